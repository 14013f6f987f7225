// A bug of depth 2: the load comes between two stores.
max_value 1;
global x, y;
fn a { y.store(1); x.store(1); x.store(0); y.store(0); }
fn b { local r; r = x.load(); assert(r != 1); }
fn c[2] { y.store(1); y.store(0); }

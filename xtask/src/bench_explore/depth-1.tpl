// A bug of depth 1: the store comes before the load. Two others take part in nothing.
max_value 1;
global x, y;
fn a { x.store(1); }
fn b { local r; r = x.load(); assert(r != 1); }
fn c[2] { y.store(1); y.store(0); y.store(1); }

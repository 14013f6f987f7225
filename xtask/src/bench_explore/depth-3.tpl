// A bug of depth 3: the first load comes between two stores, and the third store between two loads.
max_value 2;
global x, y;
fn a { y.store(1); x.store(1); y.store(2); x.store(2); y.store(0); }
fn b { local r, s; r = y.load(); r = x.load(); s = x.load(); assert(r != 1 || s != 2); }

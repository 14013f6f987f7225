// Store buffering with one relaxed store among SC accesses (ISO C11, 7.17.3).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: robust
//@ tso: not-robust

max_value 1;
global x, y;

fn left {
    local a;
    x.store(1, sc);
    a = y.load(sc);
}

fn right {
    local b;
    y.store(1, rlx);
    b = x.load(sc);
}

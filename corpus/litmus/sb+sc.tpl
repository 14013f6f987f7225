// Store buffering with SC accesses (ISO C11, 7.17.3).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global x, y;

fn left {
    local a;
    x.store(1, sc);
    a = y.load(sc);
}

fn right {
    local b;
    y.store(1, sc);
    b = x.load(sc);
}

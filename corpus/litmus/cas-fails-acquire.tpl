// Store buffering with a compare-and-swap that fails: then it is an acquire load, though all else is SC (ISO C11, 7.17.7.4).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global x, y;

fn left {
    local found;
    x.store(1, sc);
    found = CAS(y, 1, 2, sc, sc, acq);
}

fn right {
    local b;
    y.store(1, sc);
    b = x.load(sc);
}

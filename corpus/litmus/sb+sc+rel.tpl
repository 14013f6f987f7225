// Store buffering with one store that is only a release: an SC load is no fence (ISO C11, 7.17.3).
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
    y.store(1, rel);
    b = x.load(sc);
}

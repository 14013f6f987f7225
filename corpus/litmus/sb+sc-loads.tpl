// Store buffering where only the loads are SC: on x86 an SC load is a plain load (ISO C11, 7.17.3).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: robust
//@ tso: not-robust
//
// Robust under ra and rc20 by the rule that an SC access is an SC fence followed by the access (at least as
// strong as C11).

max_value 1;
global x, y;

fn left {
    local a;
    x.store(1, rel);
    a = y.load(sc);
}

fn right {
    local b;
    y.store(1, rel);
    b = x.load(sc);
}

// Store buffering with release-acquire fences: they do not order a store before a load (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 1;
global x, y;

fn left {
    local a;
    x.store(1, rlx);
    fence(acq_rel);
    a = y.load(rlx);
}

fn right {
    local b;
    y.store(1, rlx);
    fence(acq_rel);
    b = x.load(rlx);
}

// IRIW with acquire fences: they do not make the readers agree (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 1;
global x, y;

fn writes_x { x.store(1, rel); }

fn reads_xy {
    local a, b;
    a = x.load(rlx);
    fence(acq);
    b = y.load(rlx);
}

fn reads_yx {
    local c, d;
    c = y.load(rlx);
    fence(acq);
    d = x.load(rlx);
}

fn writes_y { y.store(1, rel); }

// IRIW with an SC fence in one reader only: a single fence orders nothing (Lahav, Giannarakis, Vafeiadis, POPL 2016).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 1;
global x, y;

fn writes_x { x.store(1, rlx); }

fn reads_xy {
    local a, b;
    a = x.load(rlx);
    fence(seq_cst);
    b = y.load(rlx);
}

fn reads_yx {
    local c, d;
    c = y.load(rlx);
    d = x.load(rlx);
}

fn writes_y { y.store(1, rlx); }

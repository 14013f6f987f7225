// IRIW with an SC fence between the reads of both readers (Lahav, Giannarakis, Vafeiadis, POPL 2016).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//
// The fence that comes second learns what the first one's reader saw.

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
    fence(seq_cst);
    d = x.load(rlx);
}

fn writes_y { y.store(1, rlx); }

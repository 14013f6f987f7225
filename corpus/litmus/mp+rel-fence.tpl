// Message passing with the release fence alone (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 1;
global data, flag;

fn sender {
    data.store(1, rlx);
    fence(rel);
    flag.store(1, rlx);
}

fn receiver {
    local f, d;
    f = flag.load(rlx);
    d = data.load(rlx);
}

// Message passing with a relaxed store of the flag: nothing is released (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 1;
global data, flag;

fn sender {
    data.store(1, rlx);
    flag.store(1, rlx);
}

fn receiver {
    local f, d;
    f = flag.load(acq);
    d = data.load(rlx);
}

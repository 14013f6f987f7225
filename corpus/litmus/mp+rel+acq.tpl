// Message passing, release store and acquire load of the flag, relaxed data (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global data, flag;

fn sender {
    data.store(1, rlx);
    flag.store(1, rel);
}

fn receiver {
    local f, d;
    f = flag.load(acq);
    d = data.load(rlx);
}

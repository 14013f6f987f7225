// Message passing through a release sequence: an RMW in between keeps the release (Vafeiadis et al., POPL 2015).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global data, flag;

fn sender {
    data.store(1, rlx);
    flag.store(1, rel);
}

fn counter {
    local c;
    c = FADD(flag, 1, rlx, rlx);
}

fn receiver {
    local f, d;
    f = flag.load(acq);
    d = data.load(rlx);
}

// Message passing with a relaxed load of the flag: nothing is acquired (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 1;
global data, flag;

fn sender {
    data.store(1, rlx);
    flag.store(1, rel);
}

fn receiver {
    local f, d;
    f = flag.load(rlx);
    d = data.load(rlx);
}

// A relaxed store, even one that follows the flag, does not carry the release on (Vafeiadis et al., POPL 2015).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 2;
global data, flag;

fn sender {
    data.store(1, rlx);
    flag.store(1, rel);
}

fn repeater {
    local c;
    c = flag.load(rlx);
    if (c == 1) {
        flag.store(2, rlx);
    }
}

fn receiver {
    local f, d;
    f = flag.load(acq);
    d = data.load(rlx);
}

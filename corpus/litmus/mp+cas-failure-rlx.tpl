// Message passing where the reader looks at the flag with a compare-and-swap that fails, relaxed (C11 §7.17.7.4).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
max_value 3;
global data, flag;

fn sender {
    data.store(1, rlx);
    flag.store(1, rel);
}

fn receiver {
    local seen, value;
    seen = CAS(flag, 2, 3, acq, rel, rlx);
    if (seen == 1) {
        value = data.load(rlx);
    }
}

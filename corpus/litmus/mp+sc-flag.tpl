// Message passing with an SC flag: an SC access is at least release/acquire (ISO C11, 7.17.3).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global data, flag;

fn sender {
    data.store(1, rlx);
    flag.store(1, sc);
}

fn receiver {
    local f, d;
    f = flag.load(sc);
    d = data.load(rlx);
}

// Message passing with data that is not atomic, read only after the flag (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global flag;
na data;

fn sender {
    data.nastore(1);
    flag.store(1, rel);
}

fn receiver {
    local f, d;
    f = flag.load(acq);
    if (f == 1) {
        d = data.naload();
        assert(d == 1);
    }
}

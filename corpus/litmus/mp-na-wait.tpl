// Message passing with data that is not atomic and a blocking wait for the flag (Batty et al., C11, POPL 2011).
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
    local d;
    wait(flag, 1, acq);
    d = data.naload();
    assert(d == 1);
}

// Message passing with data that is not atomic, a relaxed flag and two fences (Batty et al., C11, POPL 2011).
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
    fence(rel);
    flag.store(1, rlx);
}

fn receiver {
    local d;
    wait(flag, 1, rlx);
    fence(acq);
    d = data.naload();
    assert(d == 1);
}

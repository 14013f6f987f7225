// Message passing with data that is not atomic and a relaxed flag: a race, though no SC run has the two accesses side by side (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: robust
//@ rc11: race
//@ rc20: race
//@ tso: robust

max_value 1;
global flag;
na data;

fn sender {
    data.nastore(1);
    flag.store(1, rlx);
}

fn receiver {
    local d;
    wait(flag, 1, rlx);
    d = data.naload();
    assert(d == 1);
}

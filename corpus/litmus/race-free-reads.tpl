// Reads of a location that is not atomic do not race with each other (Batty et al., C11, POPL 2011).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
na data = 1;

fn left {
    local a;
    a = data.naload();
    assert(a == 1);
}

fn right {
    local b;
    b = data.naload();
    assert(b == 1);
}

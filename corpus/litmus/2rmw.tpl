// Two compare-and-swaps of one location: never do both succeed (Lahav & Margalit, PLDI 2019, Ex. 3.5).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global x;

fn left {
    local a;
    a = CAS(x, 0, 1);
}

fn right {
    local b;
    b = CAS(x, 0, 1);
}

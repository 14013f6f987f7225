// Barrier with waits for 0 and 2: the second wait never ends, so the first one's stale read shows nothing (Margalit et al., PLDI 2025, §4.3, BARW0,2).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global x, y;

fn left {
    x.store(1);
    wait(y, 0);
}

fn right {
    y.store(1);
    wait(x, 2);
}

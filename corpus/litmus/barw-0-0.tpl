// Barrier with waits for 0 and 0: only weak memory lets both waits pass (Margalit et al., PLDI 2025, §4.3, BARW0,0).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 2;
global x, y;

fn left {
    x.store(1);
    wait(y, 0);
}

fn right {
    y.store(1);
    wait(x, 0);
}

// Barrier with waits for 1 and 1: blocking waits mask the benign violation of BAR (Margalit et al., PLDI 2025, §4.3, BARW1,1).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global x, y;

fn left {
    x.store(1);
    wait(y, 1);
}

fn right {
    y.store(1);
    wait(x, 1);
}

// Store buffering: both threads may miss the other's store (Lahav & Margalit, PLDI 2019, Ex. 3.1).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 1;
global x, y;

fn left {
    local a;
    x.store(1);
    a = y.load();
}

fn right {
    local b;
    y.store(1);
    b = x.load();
}

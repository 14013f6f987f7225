// Store buffering with one SC fence: one is not enough in any weak model (Lahav & Margalit, PLDI 2019, Ex. 3.6).
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
    fence;
    a = y.load();
}

fn right {
    local b;
    y.store(1);
    b = x.load();
}

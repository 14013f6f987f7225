// Store buffering with SC fences (Lahav & Margalit, PLDI 2019, Ex. 3.6).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

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
    fence;
    b = x.load();
}

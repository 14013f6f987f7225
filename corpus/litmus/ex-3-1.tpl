// Store buffering whose threads write once more: the last write is not the one that shows it (Margalit et al., PLDI 2025, Ex. 3.1).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 2;
global x, y;

fn left {
    local a;
    x.store(1);
    a = y.load();
    x.store(2);
}

fn right {
    local b;
    y.store(1);
    b = x.load();
    y.store(2);
}

// Two threads write two locations in opposite order; each last read may see the other's first write (Lahav & Margalit, PLDI 2019, Ex. 3.4).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 2;
global x, y;

fn left {
    local a;
    x.store(1);
    y.store(2);
    a = y.load();
}

fn right {
    local b;
    y.store(1);
    x.store(2);
    b = x.load();
}

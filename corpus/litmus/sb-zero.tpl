// Store buffering that stores the initial value: no state tells, the execution graph does (Lahav & Margalit, PLDI 2019, §4).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 1;
global x, y;

fn left {
    local a;
    x.store(0);
    a = y.load();
}

fn right {
    local b;
    y.store(0);
    b = x.load();
}

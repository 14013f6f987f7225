// Store buffering with RMWs of two different locations: under release/acquire they order nothing (Lahav & Margalit, PLDI 2019, Ex. 3.6).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// On x86 a locked instruction drains the store buffer whatever its address.

max_value 1;
global x, y, f, g;

fn left {
    local a, r;
    x.store(1);
    r = FADD(f, 0);
    a = y.load();
}

fn right {
    local b, r;
    y.store(1);
    r = FADD(g, 0);
    b = x.load();
}

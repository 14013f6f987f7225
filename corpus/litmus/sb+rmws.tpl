// Store buffering with an RMW of one common location in between: it works as a fence (Lahav & Margalit, PLDI 2019, Ex. 3.6).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Only with acquire and release, though: relaxed RMWs (rc20) carry nothing from thread to thread.

max_value 1;
global x, y, f;

fn left {
    local a, r;
    x.store(1);
    r = FADD(f, 0);
    a = y.load();
}

fn right {
    local b, r;
    y.store(1);
    r = FADD(f, 0);
    b = x.load();
}

// A strong compare-and-swap that finds the stale expected value must succeed, which atomicity forbids (Margalit et al., PLDI 2025, §4.1).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 3;
global x, y;

fn updater {
    local a, b;
    a = FADD(x, 2, acq, rel);
    b = y.load(rlx);
}

fn swapper {
    local c;
    y.store(1, rlx);
    c = CAS(x, 0, 1, acq, rel);
}

// A strong compare-and-swap for a value never written is a load, and may be stale (Margalit et al., PLDI 2025, §4.3).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// The stale value 0 makes it fail just as the new one does.

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
    c = CAS(x, 3, 1, acq, rel);
}

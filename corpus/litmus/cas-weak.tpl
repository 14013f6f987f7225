// The same with a weak compare-and-swap: it may fail on the stale expected value (Margalit et al., PLDI 2025, §4.1).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// On x86 the instruction is locked either way and never stale.

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
    c = WCAS(x, 0, 1, acq, rel);
}

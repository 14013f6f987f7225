// The same ended by a write: atomicity keeps the place before the RMW closed (Margalit et al., PLDI 2025, Fig. 6, program 2).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Under rc20 the RMW reads the relaxed store of 2 and still may miss y.

max_value 2;
global x, y;

fn updater {
    local a, b;
    a = FADD(x, 1);
    b = y.load();
}

fn writer {
    y.store(1);
    x.store(2);
}

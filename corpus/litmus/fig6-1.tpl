// Store buffering against an RMW, ended by a read: the read may be stale (Margalit et al., PLDI 2025, Fig. 6, program 1).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 2;
global x, y;

fn updater {
    local a, b;
    a = FADD(x, 1);
    b = y.load();
}

fn reader {
    local c;
    y.store(1);
    c = x.load();
}

// A barrier that spins with plain loads: it may spin longer than under SC, a benign violation (Margalit et al., PLDI 2025, §4.3, BAR).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 1;
global x, y;

fn left {
    local r;
    x.store(1);
    r = y.load();
    while (r != 1) {
        r = y.load();
    }
}

fn right {
    local r;
    y.store(1);
    r = x.load();
    while (r != 1) {
        r = x.load();
    }
}

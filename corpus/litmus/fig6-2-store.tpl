// Program 2 with the RMW weakened to a write: the place before it is open again (Margalit et al., PLDI 2025, Ex. 4.1).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 2;
global x, y;

fn updater {
    local b;
    x.store(1);
    b = y.load();
}

fn writer {
    y.store(1);
    x.store(2);
}

// Store buffering where only the stores are SC: C11 allows the weak outcome, x86 code for SC stores does not show it (ISO C11, 7.17.3).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// x86 compilers put the fence behind the SC store, hence robust under tso. The fence of our rule for ra and rc20
// stands before the access.

max_value 1;
global x, y;

fn left {
    local a;
    x.store(1, sc);
    a = y.load(acq);
}

fn right {
    local b;
    y.store(1, sc);
    b = x.load(acq);
}

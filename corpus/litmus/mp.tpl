// Message passing: who sees the flag sees the data (Lahav & Margalit, PLDI 2019, Ex. 3.2).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Relaxed accesses (rc20) let the receiver see the flag without the data.

max_value 1;
global data, flag;

fn sender {
    data.store(1);
    flag.store(1);
}

fn receiver {
    local f, d;
    f = flag.load();
    d = data.load();
}

// 2+2W without its reads: the same program states, another modification order (Lahav & Margalit, PLDI 2019, §4).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 2;
global x, y;

fn left {
    x.store(1);
    y.store(2);
}

fn right {
    y.store(1);
    x.store(2);
}

// Values passed on by four threads in a ring: data dependencies alone do not give SC (Chakraborty, FMCAD 2021, WP).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 2;
global t, x, y, z;

fn tx {
    local a;
    a = t.load();
    x.store(a);
}

fn xy {
    local b;
    x.store(2);
    b = x.load();
    y.store(b);
}

fn yz {
    local c;
    c = y.load();
    z.store(c);
}

fn zt {
    local d;
    z.store(1);
    d = z.load();
    t.store(d);
}

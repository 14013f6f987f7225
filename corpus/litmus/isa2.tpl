// Message passing through a chain of three threads (Sarkar et al., POWER, PLDI 2011, ISA2).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 1;
global x, y, z;

fn first {
    x.store(1);
    y.store(1);
}

fn second {
    local a;
    a = y.load();
    z.store(1);
}

fn third {
    local b, c;
    b = z.load();
    c = x.load();
}

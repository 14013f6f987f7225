// Who sees the flag overwrites the data (Alglave, Maranget, Tautschnig, Herding Cats, 2014, S).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 2;
global x, y;

fn left {
    x.store(2);
    y.store(1);
}

fn right {
    local a;
    a = y.load();
    x.store(1);
}

// A store overwrites the other thread's flag, then the data is read (Alglave, Maranget, Tautschnig, Herding Cats, 2014, R).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 2;
global x, y;

fn left {
    x.store(1);
    y.store(1);
}

fn right {
    local a;
    y.store(2);
    a = x.load();
}

// Write-to-read causality through a second thread (Boehm & Adve, PLDI 2008).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 1;
global x, y;

fn writes { x.store(1); }

fn forwards {
    local a;
    a = x.load();
    y.store(1);
}

fn reads {
    local b, c;
    b = y.load();
    c = x.load();
}

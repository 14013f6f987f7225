// Independent reads of independent writes: two readers may disagree on the order of two writers (Lahav & Margalit, PLDI 2019, Ex. 3.3).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Store buffers are multi-copy atomic, so TSO gives only SC behaviours.

max_value 1;
global x, y;

fn writes_x { x.store(1); }

fn reads_xy {
    local a, b;
    a = x.load();
    b = y.load();
}

fn reads_yx {
    local c, d;
    c = y.load();
    d = x.load();
}

fn writes_y { y.store(1); }

// Coherence of two reads: one location alone is always sequentially consistent (Alglave, Maranget, Tautschnig, Herding Cats, 2014, CoRR).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global x;

fn writes_one { x.store(1, rlx); }

fn writes_two { x.store(2, rlx); }

fn reads {
    local a, b;
    a = x.load(rlx);
    b = x.load(rlx);
}

fn reads_too {
    local a, b;
    a = x.load(rlx);
    b = x.load(rlx);
}

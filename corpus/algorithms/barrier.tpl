// A barrier of two flags; what was written before it is read after it (Lahav & Margalit, PLDI 2019, BAR).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// With relaxed flags (rc20) a thread may pass the barrier and still read the other's location as it was.

max_value 1;
global before_left, before_right, here_left, here_right;

fn left {
    local seen;
    before_left.store(1);
    here_left.store(1);
    wait(here_right, 1);
    seen = before_right.load();
    assert(seen == 1);
}

fn right {
    local seen;
    before_right.store(1);
    here_right.store(1);
    wait(here_left, 1);
    seen = before_left.load();
    assert(seen == 1);
}

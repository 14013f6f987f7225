// The same barrier with release stores and acquire waits, and data that is not atomic (after Lahav & Margalit, PLDI 2019, BAR).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global here_left, here_right;
na before_left, before_right;

fn left {
    local seen;
    before_left.nastore(1);
    here_left.store(1, rel);
    wait(here_right, 1, acq);
    seen = before_right.naload();
    assert(seen == 1);
}

fn right {
    local seen;
    before_right.nastore(1);
    here_right.store(1, rel);
    wait(here_left, 1, acq);
    seen = before_left.naload();
    assert(seen == 1);
}

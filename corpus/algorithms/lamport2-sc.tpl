// Lamport's fast mutual exclusion for two threads, as designed for SC (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 2;
global x, y, inside_id, busy1, busy2;

fn t1 {
    local owner, last, inside;
  start:
    busy1.store(1);
    x.store(1);
    owner = y.load();
    if (owner != 0) {
        busy1.store(0);
        wait(y, 0);
        goto start;
    }
    y.store(1);
    last = x.load();
    if (last != 1) {
        busy1.store(0);
        wait(busy2, 0);
        owner = y.load();
        if (owner != 1) {
            wait(y, 0);
            goto start;
        }
    }

    inside_id.store(1);
    inside = inside_id.load();
    assert(inside == 1);

    y.store(0);
    busy1.store(0);
    goto start;
}

fn t2 {
    local owner, last, inside;
  start:
    busy2.store(1);
    x.store(2);
    owner = y.load();
    if (owner != 0) {
        busy2.store(0);
        wait(y, 0);
        goto start;
    }
    y.store(2);
    last = x.load();
    if (last != 2) {
        busy2.store(0);
        wait(busy1, 0);
        owner = y.load();
        if (owner != 2) {
            wait(y, 0);
            goto start;
        }
    }

    inside_id.store(2);
    inside = inside_id.load();
    assert(inside == 2);

    y.store(0);
    busy2.store(0);
    goto start;
}

// Lamport's fast mutual exclusion for three threads, with fences for release/acquire (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//@ slow: 1.8 million states under ra
//
// Two fences more than for two threads. Before the waits for busy: where another thread's store of x is
// overwritten by a third one's, a thread that reads the latter does not know of the former's busy flag. And
// after y is given back.

max_value 3;
global x, y, inside_id, busy1, busy2, busy3;

fn t1 {
    local owner, last, inside;
  start:
    busy1.store(1);
    fence;
    x.store(1);
    fence;
    owner = y.load();
    if (owner != 0) {
        busy1.store(0);
        wait(y, 0);
        goto start;
    }
    y.store(1);
    fence;
    last = x.load();
    if (last != 1) {
        busy1.store(0);
        fence;
        wait(busy2, 0);
        wait(busy3, 0);
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
    fence;
    busy1.store(0);
    goto start;
}

fn t2 {
    local owner, last, inside;
  start:
    busy2.store(1);
    fence;
    x.store(2);
    fence;
    owner = y.load();
    if (owner != 0) {
        busy2.store(0);
        wait(y, 0);
        goto start;
    }
    y.store(2);
    fence;
    last = x.load();
    if (last != 2) {
        busy2.store(0);
        fence;
        wait(busy1, 0);
        wait(busy3, 0);
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
    fence;
    busy2.store(0);
    goto start;
}

fn t3 {
    local owner, last, inside;
  start:
    busy3.store(1);
    fence;
    x.store(3);
    fence;
    owner = y.load();
    if (owner != 0) {
        busy3.store(0);
        wait(y, 0);
        goto start;
    }
    y.store(3);
    fence;
    last = x.load();
    if (last != 3) {
        busy3.store(0);
        fence;
        wait(busy1, 0);
        wait(busy2, 0);
        owner = y.load();
        if (owner != 3) {
            wait(y, 0);
            goto start;
        }
    }

    inside_id.store(3);
    inside = inside_id.load();
    assert(inside == 3);

    y.store(0);
    fence;
    busy3.store(0);
    goto start;
}

// Lamport's fast mutual exclusion with explicit modes and fences before and after the store of x, and after that of y, critical section not atomic (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global x, y, busy1, busy2;
na inside_id;

fn t1 {
    local owner, last, inside;
  start:
    busy1.store(1, rel);
    fence;
    x.store(1, rel);
    fence;
    owner = y.load(acq);
    if (owner != 0) {
        busy1.store(0, rel);
        wait(y, 0, acq);
        goto start;
    }
    y.store(1, rel);
    fence;
    last = x.load(acq);
    if (last != 1) {
        busy1.store(0, rel);
        wait(busy2, 0, acq);
        owner = y.load(acq);
        if (owner != 1) {
            wait(y, 0, acq);
            goto start;
        }
    }

    inside_id.nastore(1);
    inside = inside_id.naload();
    assert(inside == 1);

    y.store(0, rel);
    busy1.store(0, rel);
    goto start;
}

fn t2 {
    local owner, last, inside;
  start:
    busy2.store(1, rel);
    fence;
    x.store(2, rel);
    fence;
    owner = y.load(acq);
    if (owner != 0) {
        busy2.store(0, rel);
        wait(y, 0, acq);
        goto start;
    }
    y.store(2, rel);
    fence;
    last = x.load(acq);
    if (last != 2) {
        busy2.store(0, rel);
        wait(busy1, 0, acq);
        owner = y.load(acq);
        if (owner != 2) {
            wait(y, 0, acq);
            goto start;
        }
    }

    inside_id.nastore(2);
    inside = inside_id.naload();
    assert(inside == 2);

    y.store(0, rel);
    busy2.store(0, rel);
    goto start;
}

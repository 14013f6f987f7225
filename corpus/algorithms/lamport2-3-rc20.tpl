// Lamport's fast mutual exclusion with three threads and the fences that two need: not enough (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 3;
global x, y, busy1, busy2, busy3;

fn t1 {
    local owner, last;
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
        wait(busy1, 0, acq);
        wait(busy2, 0, acq);
        wait(busy3, 0, acq);
        owner = y.load(acq);
        if (owner != 1) {
            wait(y, 0, acq);
            goto start;
        }
    }
    y.store(0, rel);
    busy1.store(0, rel);
}

fn t2 {
    local owner, last;
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
        wait(busy2, 0, acq);
        wait(busy3, 0, acq);
        owner = y.load(acq);
        if (owner != 2) {
            wait(y, 0, acq);
            goto start;
        }
    }
    y.store(0, rel);
    busy2.store(0, rel);
}

fn t3 {
    local owner, last;
  start:
    busy3.store(1, rel);
    fence;
    x.store(3, rel);
    fence;
    owner = y.load(acq);
    if (owner != 0) {
        busy3.store(0, rel);
        wait(y, 0, acq);
        goto start;
    }
    y.store(3, rel);
    fence;
    last = x.load(acq);
    if (last != 3) {
        busy3.store(0, rel);
        wait(busy1, 0, acq);
        wait(busy2, 0, acq);
        wait(busy3, 0, acq);
        owner = y.load(acq);
        if (owner != 3) {
            wait(y, 0, acq);
            goto start;
        }
    }
    y.store(0, rel);
    busy3.store(0, rel);
}

// One of each: this program shows the whole language, not an algorithm.
/* Block comments
   work too. */
max_value 9;
global x = 1, y, z, l;
na d = 3, e;
track x: 0, 1;
track y: all;

fn everything {
    local a, b, c;
    local f;
    a = x.load();
    a = x.load(rlx);
    a = x.load(acq);
    a = x.load(sc);
    x.store(a + 1);
    x.store(a, rlx);
    x.store(a * 2 % 3, rel);
    x.store(a / 2, sc);
    b = d.naload();
    d.nastore(b - 1);
    wait(y, 1);
    wait(y, 1, 2, acq);
    c = wait(y, a, b + 1, sc);
    a = FADD(x, -1);
    FADD(x, 1, acq, rel);
    FADD(x, 1, acq_rel);
    b = exchange(x, 2, rlx, rel);
    exchange(x, 2, sc);
    c = CAS(x, a, b);
    CAS(x, a, b, acq, rlx);
    c = CAS(x, a, b, acq, rel, rlx);
    f = WCAS(x, 0, 1, rlx, rlx);
    f = WCAS(x, 0, 1, sc);
    BCAS(x, 0, 1, acq, rel);
    a = BCAS(x, 0, 1);
    fence;
    fence(upd);
    fence(seq_cst);
    fence(sc);
    fence(acq);
    fence(rel);
    fence(acq_rel);
    lock(l);
    unlock(l);
again:
    if (a == 0) goto again;
    if (a < 1 && b <= 2 || !(c > 3)) {
        goto done;
    } else if (a >= 4 ^ b != 5 & c | 6) {
        skip;
    } else {
        assert(a == b);
        assume(true);
        verify(false);
    }
    while (a) {
        a = a - 1;
    }
    if (b) a = 1; else a = 2;
    if b == 1 goto again;
    oneof ({
        a = -b;
    } {
        a = ~b;
    } {
    });
    a = - -b + -(-c) - (b - c) << 1 >> 2;
done:
}

fn worker[3] {
    local r;
    r = FADD(z, worker + 1, acq, rel);
    if (r == worker) goto end;
    z.store(2 - worker, rel);
end:
    skip;
}

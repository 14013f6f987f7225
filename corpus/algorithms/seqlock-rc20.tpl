// Sequence lock with explicit modes: release fence in the writer, acquire loads of the data (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 8;
global version, low, high;

fn writer {
    local value, v;
    while (value < 4) {
        value = value + 1;
        version.store(v + 1, rlx);
        fence(rel);
        low.store(value, rlx);
        high.store(value, rlx);
        version.store(v + 2, rel);
        v = v + 2;
    }
}

fn reader[2] {
    local before, l, h, after;
    while (true) {
        before = version.load(acq);
        if (before % 2 == 0) {
            l = low.load(acq);
            h = high.load(acq);
            after = version.load(rlx);
            if (before == after) {
                assert(l == h);
            }
        }
    }
}

// Sequence lock, one writer and three readers of two locations (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 10;
global version, low, high;

fn writer {
    local value, v;
    while (value < 5) {
        value = value + 1;
        version.store(v + 1);
        low.store(value);
        high.store(value);
        version.store(v + 2);
        v = v + 2;
    }
}

fn reader[3] {
    local before, l, h, after;
    while (true) {
        before = version.load();
        if (before % 2 == 0) {
            l = low.load();
            h = high.load();
            after = version.load();
            if (before == after) {
                assert(l == h);
            }
        }
    }
}

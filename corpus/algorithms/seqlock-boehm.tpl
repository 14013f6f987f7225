// Sequence lock with relaxed loads of the data and an acquire fence behind them (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Correct, as the reader throws such values away, but not robust: it may read a new low and then an old high in
// an order that no SC run shows.

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
            l = low.load(rlx);
            h = high.load(rlx);
            fence(acq);
            after = version.load(rlx);
            if (before == after) {
                assert(l == h);
            }
        }
    }
}

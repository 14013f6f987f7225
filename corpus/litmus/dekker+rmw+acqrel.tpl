// The entry of Dekker's algorithm with exchanges, one of them acquire-release among SC accesses (Dijkstra, EWD 123, 1965; ISO C11, 7.17.3).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global want0, want1, inside;

fn left {
    local other, seen;
    exchange(want0, 1, sc, sc);
    other = want1.load(sc);
    if (other == 0) {
        inside.store(1);
        seen = inside.load();
        assert(seen == 1);
    }
}

fn right {
    local other;
    exchange(want1, 1, acq, rel);
    other = want0.load(sc);
    if (other == 0) {
        inside.store(0);
    }
}

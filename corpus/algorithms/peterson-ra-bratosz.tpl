// Peterson's mutual exclusion with the exchange on the wrong location, the own flag: broken (Milewski, in Williams, Peterson's lock with C++0x atomics, 2008).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 2;
global want_a, want_b, turn, inside_id;

fn a {
    local other, whose, inside, old;
    while (true) {
        old = exchange(want_a, 1);
        turn.store(1);
        other = want_b.load();
        whose = turn.load();
        while (other && whose == 1) {
            other = want_b.load();
            whose = turn.load();
        }

        inside_id.store(1);
        inside = inside_id.load();
        assert(inside == 1);

        want_a.store(0);
    }
}

fn b {
    local other, whose, inside, old;
    while (true) {
        old = exchange(want_b, 1);
        turn.store(0);
        other = want_a.load();
        whose = turn.load();
        while (other && whose == 0) {
            other = want_a.load();
            whose = turn.load();
        }

        inside_id.store(2);
        inside = inside_id.load();
        assert(inside == 2);

        want_b.store(0);
    }
}

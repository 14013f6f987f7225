// Peterson's mutual exclusion with one fence, which is enough for TSO (Peterson, Myths about the mutual exclusion problem, IPL 1981).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Under release/acquire a thread may still give way in the past: its store of turn is put before the other's.

max_value 2;
global want_a, want_b, turn, inside_id;

fn a {
    local other, whose, inside;
    while (true) {
        want_a.store(1);
        turn.store(1);
        fence;
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
    local other, whose, inside;
    while (true) {
        want_b.store(1);
        turn.store(0);
        fence;
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

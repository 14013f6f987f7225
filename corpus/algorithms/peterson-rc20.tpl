// Peterson's mutual exclusion with an exchange and explicit modes, critical section not atomic (after Vyukov, 2008).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global want_a, want_b, turn;
na inside_id;

fn a {
    local other, whose, inside, old;
    while (true) {
        want_a.store(1, rlx);
        old = exchange(turn, 1, acq, rel);
        other = want_b.load(acq);
        whose = turn.load(acq);
        while (other && whose == 1) {
            other = want_b.load(acq);
            whose = turn.load(acq);
        }

        inside_id.nastore(1);
        inside = inside_id.naload();
        assert(inside == 1);

        want_a.store(0, rel);
    }
}

fn b {
    local other, whose, inside, old;
    while (true) {
        want_b.store(1, rlx);
        old = exchange(turn, 0, acq, rel);
        other = want_a.load(acq);
        whose = turn.load(acq);
        while (other && whose == 0) {
            other = want_a.load(acq);
            whose = turn.load(acq);
        }

        inside_id.nastore(2);
        inside = inside_id.naload();
        assert(inside == 2);

        want_b.store(0, rel);
    }
}

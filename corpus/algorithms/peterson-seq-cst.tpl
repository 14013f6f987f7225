// Peterson's mutual exclusion, every access SC (Peterson, Myths about the mutual exclusion problem, IPL 1981).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global want_a, want_b, turn, inside_id;

fn a {
    local other, whose, inside;
    while (true) {
        want_a.store(1, sc);
        turn.store(1, sc);
        other = want_b.load(sc);
        whose = turn.load(sc);
        while (other && whose == 1) {
            other = want_b.load(sc);
            whose = turn.load(sc);
        }

        inside_id.store(1, sc);
        inside = inside_id.load(sc);
        assert(inside == 1);

        want_a.store(0, sc);
    }
}

fn b {
    local other, whose, inside;
    while (true) {
        want_b.store(1, sc);
        turn.store(0, sc);
        other = want_a.load(sc);
        whose = turn.load(sc);
        while (other && whose == 0) {
            other = want_a.load(sc);
            whose = turn.load(sc);
        }

        inside_id.store(2, sc);
        inside = inside_id.load(sc);
        assert(inside == 2);

        want_b.store(0, sc);
    }
}

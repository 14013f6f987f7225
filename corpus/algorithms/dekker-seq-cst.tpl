// Dekker's mutual exclusion, every access SC (Dekker; Dijkstra, EWD 123, Cooperating sequential processes, 1965).
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
        other = want_b.load(sc);
        while (other) {
            whose = turn.load(sc);
            if (whose == 1) {
                want_a.store(0, sc);
                wait(turn, 0, sc);
                want_a.store(1, sc);
            }
            other = want_b.load(sc);
        }

        inside_id.store(1, sc);
        inside = inside_id.load(sc);
        assert(inside == 1);

        turn.store(1, sc);
        want_a.store(0, sc);
    }
}

fn b {
    local other, whose, inside;
    while (true) {
        want_b.store(1, sc);
        other = want_a.load(sc);
        while (other) {
            whose = turn.load(sc);
            if (whose == 0) {
                want_b.store(0, sc);
                wait(turn, 1, sc);
                want_b.store(1, sc);
            }
            other = want_a.load(sc);
        }

        inside_id.store(2, sc);
        inside = inside_id.load(sc);
        assert(inside == 2);

        turn.store(0, sc);
        want_b.store(0, sc);
    }
}

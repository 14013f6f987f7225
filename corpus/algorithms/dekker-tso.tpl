// Dekker's mutual exclusion with a fence after each announcement (Dekker; Dijkstra, EWD 123, Cooperating sequential processes, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 2;
global want_a, want_b, turn, inside_id;

fn a {
    local other, whose, inside;
    while (true) {
        want_a.store(1);
        fence;
        other = want_b.load();
        while (other) {
            whose = turn.load();
            if (whose == 1) {
                want_a.store(0);
                wait(turn, 0);
                want_a.store(1);
                fence;
            }
            other = want_b.load();
        }

        inside_id.store(1);
        inside = inside_id.load();
        assert(inside == 1);

        turn.store(1);
        want_a.store(0);
    }
}

fn b {
    local other, whose, inside;
    while (true) {
        want_b.store(1);
        fence;
        other = want_a.load();
        while (other) {
            whose = turn.load();
            if (whose == 0) {
                want_b.store(0);
                wait(turn, 1);
                want_b.store(1);
                fence;
            }
            other = want_a.load();
        }

        inside_id.store(2);
        inside = inside_id.load();
        assert(inside == 2);

        turn.store(0);
        want_b.store(0);
    }
}

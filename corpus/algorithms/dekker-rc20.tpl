// Dekker's mutual exclusion with explicit modes and a fence after each announcement, critical section not atomic (Dekker; Dijkstra, EWD 123, Cooperating sequential processes, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global want_a, want_b, turn;
na inside_id;

fn a {
    local other, whose, inside;
    while (true) {
        want_a.store(1, rel);
        fence;
        other = want_b.load(acq);
        while (other) {
            whose = turn.load(acq);
            if (whose == 1) {
                want_a.store(0, rel);
                wait(turn, 0, acq);
                want_a.store(1, rel);
                fence;
            }
            other = want_b.load(acq);
        }

        inside_id.nastore(1);
        inside = inside_id.naload();
        assert(inside == 1);

        turn.store(1, rel);
        want_a.store(0, rel);
    }
}

fn b {
    local other, whose, inside;
    while (true) {
        want_b.store(1, rel);
        fence;
        other = want_a.load(acq);
        while (other) {
            whose = turn.load(acq);
            if (whose == 0) {
                want_b.store(0, rel);
                wait(turn, 1, acq);
                want_b.store(1, rel);
                fence;
            }
            other = want_a.load(acq);
        }

        inside_id.nastore(2);
        inside = inside_id.naload();
        assert(inside == 2);

        turn.store(0, rel);
        want_b.store(0, rel);
    }
}

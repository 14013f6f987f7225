// A gate whose opener wakes who is waiting, with SC accesses (after the sleeping barber: Dijkstra, EWD 123, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global waiting, open, token;

fn waiter {
    local seen;
    FADD(waiting, 1, sc, sc);
    seen = open.load(sc);
    if (seen == 0) {
        wait(token, 1, acq);
    }
}

fn opener {
    local sleepers;
    open.store(1, sc);
    sleepers = waiting.load(sc);
    if (sleepers != 0) {
        token.store(1, rel);
    }
}

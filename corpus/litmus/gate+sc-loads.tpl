// A gate whose opener wakes who is waiting: SC loads stand where fences should, and the wake-up gets lost, on x86 too (after the sleeping barber: Dijkstra, EWD 123, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: robust
//@ tso: not-robust

max_value 1;
global waiting, open, token;

fn waiter {
    local seen;
    FADD(waiting, 1, acq, rel);
    seen = open.load(sc);
    if (seen == 0) {
        wait(token, 1, acq);
    }
}

fn opener {
    local sleepers;
    open.store(1, rel);
    sleepers = waiting.load(sc);
    if (sleepers != 0) {
        token.store(1, rel);
    }
}

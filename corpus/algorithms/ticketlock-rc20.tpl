// Ticket lock with explicit modes, critical section not atomic (Reed & Kanodia, CACM 1979; Mellor-Crummey & Scott, TOCS 1991).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//
// Numbers wrap around; there are more of them than threads.

max_value 3;
global next, serving;
na inside_id;

fn t1 {
    local mine, inside;
    while (true) {
        mine = FADD(next, 1, acq, rel);
        wait(serving, mine, acq);

        inside_id.nastore(1);
        inside = inside_id.naload();
        assert(inside == 1);

        serving.store(mine + 1, rel);
    }
}

fn t2 {
    local mine, inside;
    while (true) {
        mine = FADD(next, 1, acq, rel);
        wait(serving, mine, acq);

        inside_id.nastore(2);
        inside = inside_id.naload();
        assert(inside == 2);

        serving.store(mine + 1, rel);
    }
}

// Ticket lock, two threads (Reed & Kanodia, CACM 1979; Mellor-Crummey & Scott, TOCS 1991).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Numbers wrap around; there are more of them than threads.

max_value 3;
global next, serving, inside_id;

fn t1 {
    local mine, inside;
    while (true) {
        mine = FADD(next, 1);
        wait(serving, mine);

        inside_id.store(1);
        inside = inside_id.load();
        assert(inside == 1);

        serving.store(mine + 1);
    }
}

fn t2 {
    local mine, inside;
    while (true) {
        mine = FADD(next, 1);
        wait(serving, mine);

        inside_id.store(2);
        inside = inside_id.load();
        assert(inside == 2);

        serving.store(mine + 1);
    }
}

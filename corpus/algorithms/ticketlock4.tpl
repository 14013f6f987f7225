// Ticket lock, four threads (Reed & Kanodia, CACM 1979; Mellor-Crummey & Scott, TOCS 1991).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Numbers wrap around; there are more of them than threads.

max_value 5;
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

fn t3 {
    local mine, inside;
    while (true) {
        mine = FADD(next, 1);
        wait(serving, mine);

        inside_id.store(3);
        inside = inside_id.load();
        assert(inside == 3);

        serving.store(mine + 1);
    }
}

fn t4 {
    local mine, inside;
    while (true) {
        mine = FADD(next, 1);
        wait(serving, mine);

        inside_id.store(4);
        inside = inside_id.load();
        assert(inside == 4);

        serving.store(mine + 1);
    }
}

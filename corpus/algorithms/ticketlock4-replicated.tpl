// Ticket lock, four instances of one thread (Reed & Kanodia, CACM 1979; Mellor-Crummey & Scott, TOCS 1991).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Numbers wrap around; there are more of them than threads.

max_value 5;
global next, serving, inside_id;

fn t[4] {
    local mine, inside;
    while (true) {
        mine = FADD(next, 1);
        wait(serving, mine);

        inside_id.store(t + 1);
        inside = inside_id.load();
        assert(inside == t + 1);

        serving.store(mine + 1);
    }
}

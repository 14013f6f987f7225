// Test-and-test-and-set lock with explicit modes, critical section not atomic (Rudolph & Segall, ISCA 1984; Owens, ECOOP 2010).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global mutex;
na inside_id;

fn t1 {
    local taken, inside;
    while (true) {
        taken = exchange(mutex, 1, acq, rlx);
        while (taken) {
            wait(mutex, 0, rlx);
            taken = exchange(mutex, 1, acq, rlx);
        }

        inside_id.nastore(1);
        inside = inside_id.naload();
        assert(inside == 1);

        mutex.store(0, rel);
    }
}

fn t2 {
    local taken, inside;
    while (true) {
        taken = exchange(mutex, 1, acq, rlx);
        while (taken) {
            wait(mutex, 0, rlx);
            taken = exchange(mutex, 1, acq, rlx);
        }

        inside_id.nastore(2);
        inside = inside_id.naload();
        assert(inside == 2);

        mutex.store(0, rel);
    }
}

// Test-and-test-and-set lock with relaxed accesses, critical section not atomic: a race (Rudolph & Segall, ISCA 1984; Owens, ECOOP 2010).
//@ sc: robust
//@ ra: robust
//@ rc11: race
//@ rc20: race
//@ tso: robust

max_value 2;
global mutex;
na inside_id;

fn t1 {
    local taken, inside;
    while (true) {
        taken = exchange(mutex, 1);
        while (taken) {
            wait(mutex, 0);
            taken = exchange(mutex, 1);
        }

        inside_id.nastore(1);
        inside = inside_id.naload();
        assert(inside == 1);

        mutex.store(0);
    }
}

fn t2 {
    local taken, inside;
    while (true) {
        taken = exchange(mutex, 1);
        while (taken) {
            wait(mutex, 0);
            taken = exchange(mutex, 1);
        }

        inside_id.nastore(2);
        inside = inside_id.naload();
        assert(inside == 2);

        mutex.store(0);
    }
}

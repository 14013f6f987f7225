// Test-and-test-and-set lock, two threads (Rudolph & Segall, ISCA 1984; Owens, ECOOP 2010).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Relaxed (rc20), the lock hands nothing over to the next critical section.

max_value 2;
global mutex, inside_id;

fn t1 {
    local taken, inside;
    while (true) {
        taken = exchange(mutex, 1);
        while (taken) {
            wait(mutex, 0);
            taken = exchange(mutex, 1);
        }

        inside_id.store(1);
        inside = inside_id.load();
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

        inside_id.store(2);
        inside = inside_id.load();
        assert(inside == 2);

        mutex.store(0);
    }
}

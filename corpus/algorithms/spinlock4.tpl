// Test-and-test-and-set lock, four threads (Rudolph & Segall, ISCA 1984; Owens, ECOOP 2010).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 4;
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

fn t3 {
    local taken, inside;
    while (true) {
        taken = exchange(mutex, 1);
        while (taken) {
            wait(mutex, 0);
            taken = exchange(mutex, 1);
        }

        inside_id.store(3);
        inside = inside_id.load();
        assert(inside == 3);

        mutex.store(0);
    }
}

fn t4 {
    local taken, inside;
    while (true) {
        taken = exchange(mutex, 1);
        while (taken) {
            wait(mutex, 0);
            taken = exchange(mutex, 1);
        }

        inside_id.store(4);
        inside = inside_id.load();
        assert(inside == 4);

        mutex.store(0);
    }
}

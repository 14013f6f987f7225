// Test-and-test-and-set lock, four instances of one thread (Rudolph & Segall, ISCA 1984; Owens, ECOOP 2010).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 4;
global mutex, inside_id;

fn t[4] {
    local taken, inside;
    while (true) {
        taken = exchange(mutex, 1);
        while (taken) {
            wait(mutex, 0);
            taken = exchange(mutex, 1);
        }

        inside_id.store(t + 1);
        inside = inside_id.load();
        assert(inside == t + 1);

        mutex.store(0);
    }
}

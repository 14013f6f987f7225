// Both threads count under a lock: no race, no lost update (Dijkstra, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 2;
global mutex, done;
na count;

fn adder[2] {
    local c, d;
    lock(mutex);
    c = count.naload();
    count.nastore(c + 1);
    unlock(mutex);
    d = FADD(done, 1, acq, rel);
}

fn checker {
    local c;
    wait(done, 2, acq);
    c = count.naload();
    assert(c == 2);
}

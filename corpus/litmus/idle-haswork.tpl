// A producer that looks for idle consumers and a consumer that looks for work: the wake-up gets lost (Burckhardt & Musuvathi, Sober, CAV 2008, Fig. 4b).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust

max_value 1;
global mutex, is_idling, has_work, pulse;

fn consumer {
    local work;
    lock(mutex);
    is_idling.store(1);
    work = has_work.load();
    if (work == 0) {
        // Waiting on the condition variable gives the lock back and takes it again.
        unlock(mutex);
        wait(pulse, 1);
        lock(mutex);
    }
    is_idling.store(0);
    unlock(mutex);
}

fn producer {
    local idle;
    has_work.store(1);
    idle = is_idling.load();
    if (idle != 0) {
        lock(mutex);
        pulse.store(1);
        unlock(mutex);
    }
}

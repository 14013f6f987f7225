// The same with an SC fence between each flag's store and the other flag's load (repair of Sober's Fig. 4b, CAV 2008).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global mutex, is_idling, has_work, pulse;

fn consumer {
    local work;
    lock(mutex);
    is_idling.store(1);
    fence;
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
    fence;
    idle = is_idling.load();
    if (idle != 0) {
        lock(mutex);
        pulse.store(1);
        unlock(mutex);
    }
}

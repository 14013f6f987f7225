// Two locks taken in opposite order (Dijkstra, Cooperating sequential processes, 1965: the deadly embrace).
//@ sc: deadlock
//@ ra: deadlock
//@ rc11: deadlock
//@ rc20: deadlock
//@ tso: deadlock
//@ flags: --deadlock

max_value 1;
global fork, knife;

fn left {
    lock(fork);
    lock(knife);
    unlock(knife);
    unlock(fork);
}

fn right {
    lock(knife);
    lock(fork);
    unlock(fork);
    unlock(knife);
}

// Two locks taken in the same order (Coffman, Elphick, Shoshani, System deadlocks, 1971).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
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
    lock(fork);
    lock(knife);
    unlock(knife);
    unlock(fork);
}

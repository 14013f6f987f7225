// Two ways to give a lock back, each with its own linearization point; one of them is too weak.
#include <stdatomic.h>
//@ specification: lock
//@ lock: lock
//@ unlock: unlock
atomic_uint next, owner;
atomic_int d;
void lock(void) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&owner, memory_order_acquire) != mine) ;
}
void unlock(int c) {
    unsigned mine = atomic_load_explicit(&owner, memory_order_relaxed);
    if (c) {
        int r = atomic_load_explicit(&d, memory_order_relaxed);
        atomic_store_explicit(&d, r + 1, memory_order_relaxed);
        atomic_store_explicit(&owner, mine + 1, memory_order_relaxed); //@ linearization-point
    } else
        atomic_store_explicit(&owner, mine + 1, memory_order_release); //@ linearization-point
}

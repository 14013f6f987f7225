// Other methods are called while the lock is held, which an unlock without release does not protect.
#include <stdatomic.h>
//@ specification: lock
//@ lock: lock
//@ unlock: unlock
_Atomic int l, d;
void lock(void) {
    int e = 0;
    while (!atomic_compare_exchange_strong_explicit(&l, &e, 1, memory_order_acq_rel, memory_order_relaxed)) e = 0;
}
void unlock(void) { atomic_fetch_sub_explicit(&l, 1, memory_order_relaxed); }
void set(int v) { atomic_store_explicit(&d, v, memory_order_relaxed); }
int get(void) { return atomic_load_explicit(&d, memory_order_relaxed); }

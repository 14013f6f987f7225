//@ specification: lock
//@ lock: spin_lock
//@ unlock: spin_unlock
//@ verdict: robust
// The simplest lock: exchange until it was free.
#include <stdatomic.h>

struct spin {
    atomic_flag held;
};

void spin_lock(struct spin *s) {
    while (atomic_flag_test_and_set_explicit(&s->held, memory_order_acquire))
        ;
}

void spin_unlock(struct spin *s) {
    atomic_flag_clear_explicit(&s->held, memory_order_release);
}

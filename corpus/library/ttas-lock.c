//@ specification: lock
//@ lock: spin_lock
//@ unlock: spin_unlock
//@ verdict: robust
// Test and test-and-set: spin on a relaxed load, which costs no traffic, and exchange only when the lock looks free.
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool held;

void spin_lock(void) {
    for (;;) {
        while (atomic_load_explicit(&held, memory_order_relaxed))
            sched_yield();
        if (!atomic_exchange_explicit(&held, true, memory_order_acquire))
            return;
    }
}

void spin_unlock(void) {
    atomic_store_explicit(&held, false, memory_order_release);
}

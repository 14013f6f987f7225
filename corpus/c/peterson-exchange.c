// Peterson's mutual exclusion with an exchange in place of the second store (after Vyukov, 2008).
//@ run: robust
#include "threads.h"

static atomic_int want[2], turn;
static int inside;

static void body(int me) {
    int other = 1 - me;
    for (int i = 0; i < 20; i++) {
        atomic_store_explicit(&want[me], 1, memory_order_relaxed);
        atomic_exchange_explicit(&turn, other, memory_order_acq_rel);
        while (atomic_load_explicit(&want[other], memory_order_acquire) &&
               atomic_load_explicit(&turn, memory_order_acquire) == other)
            sched_yield();
        inside++;
        atomic_store_explicit(&want[me], 0, memory_order_release);
    }
}

int main(void) {
    run(2, 5, body, NULL);
    must(inside == 200);
}

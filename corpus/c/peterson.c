// Peterson's mutual exclusion, release/acquire (Peterson, Myths about the mutual exclusion problem, IPL 1981).
//@ run: not-robust
#include "threads.h"

static atomic_int want[2], turn;
static int inside;

static void body(int me) {
    int other = 1 - me;
    for (int i = 0; i < 20; i++) {
        atomic_store_explicit(&want[me], 1, memory_order_release); //~ missed
        atomic_store_explicit(&turn, other, memory_order_release); //~ stale missed
        while (atomic_load_explicit(&want[other], memory_order_acquire) && //~ stale
               atomic_load_explicit(&turn, memory_order_acquire) == other) //~ stale
            sched_yield();
        inside++;
        atomic_store_explicit(&want[me], 0, memory_order_release); //~ missed
    }
}

int main(void) {
    run(2, 5, body, NULL);
    must(inside == 200);
}

// Dekker's mutual exclusion, release/acquire (Dijkstra, Cooperating sequential processes, 1965).
//@ run: not-robust
#include "threads.h"

static atomic_int want[2], turn;
static int inside;

static void body(int me) {
    int other = 1 - me;
    for (int i = 0; i < 20; i++) {
        atomic_store_explicit(&want[me], 1, memory_order_release); //~ missed
        while (atomic_load_explicit(&want[other], memory_order_acquire)) { //~ stale
            if (atomic_load_explicit(&turn, memory_order_acquire) != me) { //~ stale
                atomic_store_explicit(&want[me], 0, memory_order_release); //~ missed
                while (atomic_load_explicit(&turn, memory_order_acquire) != me) //~ stale
                    sched_yield();
                atomic_store_explicit(&want[me], 1, memory_order_release); //~ missed
            }
        }
        inside++;
        atomic_store_explicit(&turn, other, memory_order_release); //~ stale missed
        atomic_store_explicit(&want[me], 0, memory_order_release); //~ missed
    }
}

int main(void) {
    run(2, 5, body, NULL);
    must(inside == 200);
}

// A meeting of two: each raises its flag and waits for the other's (Margalit et al., PLDI 2025, Ex. 4.2).
//@ run: benign-wait
//
// Not robust, but what is new under the weak model is only a longer wait. The first rounds give the evidence for that: in each of them
// one thread only waits for the other, which comes late, and is seen to come back to its load with nothing done in between.
#include "threads.h"
#include <unistd.h>

static atomic_int flag[2];
static int round_number;

static void body(int me) {
    int first = round_number < 4, late = round_number / 2;
    if (first && me == late)
        usleep(3000);
    if (!first || me == late)
        atomic_store_explicit(&flag[me], 1, memory_order_release); //~ missed
    if (!first || me != late)
        while (!atomic_load_explicit(&flag[1 - me], memory_order_acquire)) //~ stale
            sched_yield();
}

static void reset(void) {
    atomic_store_explicit(&flag[0], 0, memory_order_relaxed);
    atomic_store_explicit(&flag[1], 0, memory_order_relaxed);
    round_number++;
}

int main(void) {
    run(2, 50, body, reset);
}

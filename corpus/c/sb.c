// Store buffering: both threads may miss the other's store (Lahav & Margalit, PLDI 2019, Ex. 3.1).
//@ run: not-robust
#include "threads.h"

static atomic_int at[2];

static void body(int me) {
    atomic_store_explicit(&at[me], 1, memory_order_release); //~ missed
    atomic_load_explicit(&at[1 - me], memory_order_acquire); //~ stale
}

static void reset(void) {
    atomic_store(&at[0], 0);
    atomic_store(&at[1], 0);
}

int main(void) {
    run(2, 10, body, reset);
}

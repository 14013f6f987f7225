// Store buffering with acquire-release updates of two different locations in between, which order nothing (Lahav & Margalit, PLDI 2019).
//@ run: not-robust
#include "threads.h"

static atomic_int at[2], apart[2];

static void body(int me) {
    atomic_store_explicit(&at[me], 1, memory_order_relaxed); //~ missed
    atomic_fetch_add_explicit(&apart[me], 1, memory_order_acq_rel);
    atomic_load_explicit(&at[1 - me], memory_order_relaxed); //~ stale
}

static void reset(void) {
    atomic_store(&at[0], 0);
    atomic_store(&at[1], 0);
}

int main(void) {
    run(2, 10, body, reset);
}

// Load buffering: robust even with relaxed accesses, as RC20 has no cycles of program order and reads-from (Lahav et al., PLDI 2017).
//@ run: robust
#include "threads.h"

static atomic_int at[2];

static void body(int me) {
    int seen = atomic_load_explicit(&at[1 - me], memory_order_relaxed);
    atomic_store_explicit(&at[me], 1 + seen, memory_order_relaxed);
}

static void reset(void) {
    atomic_store(&at[0], 0);
    atomic_store(&at[1], 0);
}

int main(void) {
    run(2, 100, body, reset);
}

// Store buffering with an acquire-release update of one more location in between (Lahav & Margalit, PLDI 2019).
//@ run: robust
#include "threads.h"

static atomic_int at[2], meeting;
static int seen[2];

static void body(int me) {
    atomic_store_explicit(&at[me], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&meeting, 1, memory_order_acq_rel);
    seen[me] = atomic_load_explicit(&at[1 - me], memory_order_relaxed);
}

static void reset(void) {
    must(seen[0] || seen[1]);
    atomic_store(&at[0], 0);
    atomic_store(&at[1], 0);
}

int main(void) {
    run(2, 100, body, reset);
}

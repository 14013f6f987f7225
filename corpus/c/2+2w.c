// Two plus two writes: the stores may end up in an order that SC does not allow (Lahav & Margalit, PLDI 2019).
//@ run: not-robust
#include "threads.h"

static atomic_int at[2];

static void body(int me) {
    atomic_store_explicit(&at[me], 1, memory_order_release); //~ missed
    atomic_store_explicit(&at[1 - me], 2, memory_order_release); //~ stale
}

static void reset(void) {
    must(atomic_load(&at[0]) && atomic_load(&at[1]));
    atomic_store(&at[0], 0);
    atomic_store(&at[1], 0);
}

int main(void) {
    run(2, 10, body, reset);
}

// Two plus two writes with SC fences in between (Lahav & Margalit, PLDI 2019).
//@ run: robust
#include "threads.h"

static atomic_int at[2];

static void body(int me) {
    atomic_store_explicit(&at[me], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&at[1 - me], 2, memory_order_relaxed);
}

int main(void) {
    run(2, 100, body, NULL);
    must(atomic_load(&at[0]) && atomic_load(&at[1]));
}

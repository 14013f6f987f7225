// Independent reads of independent writes with SC fences between the reads (Lahav, Giannarakis, Vafeiadis, POPL 2016).
//@ run: robust
#include "threads.h"

static atomic_int at[2];

static void body(int role) {
    if (role < 2) {
        atomic_store_explicit(&at[role], 1, memory_order_release);
    } else {
        atomic_load_explicit(&at[role - 2], memory_order_acquire);
        atomic_thread_fence(memory_order_seq_cst);
        atomic_load_explicit(&at[3 - role], memory_order_acquire);
    }
}

static void reset(void) {
    atomic_store(&at[0], 0);
    atomic_store(&at[1], 0);
}

int main(void) {
    run(4, 100, body, reset);
}

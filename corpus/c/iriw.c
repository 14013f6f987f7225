// Independent reads of independent writes: two readers may see the writes in different orders (Lahav & Margalit, PLDI 2019).
//@ run: not-robust
#include "threads.h"

static atomic_int at[2];

static void body(int role) {
    if (role < 2) {
        atomic_store_explicit(&at[role], 1, memory_order_release); //~ missed
    } else {
        atomic_load_explicit(&at[role - 2], memory_order_acquire);
        atomic_load_explicit(&at[3 - role], memory_order_acquire); //~ stale
    }
}

static void reset(void) {
    atomic_store(&at[0], 0);
    atomic_store(&at[1], 0);
}

int main(void) {
    run(4, 200, body, reset);
}

// Store buffering: both threads may miss the other's store (Burckhardt & Musuvathi, Sober, CAV 2008, Fig. 1b).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//@ run: not-robust
#include "together.h"

static atomic_int at[2];
static int seen[2];

static void body(int me) {
    atomic_store_explicit(&at[me], 1, memory_order_release); //~ missed
    seen[me] = atomic_load_explicit(&at[1 - me], memory_order_acquire); //~ stale
}

int main(void) {
    together(2, body);
    assert(seen[0] || seen[1]);
}

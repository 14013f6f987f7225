// Store buffering whose threads write once more: the last write is not the one that shows it (Margalit et al., PLDI 2025, Ex. 3.1).
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
    atomic_store_explicit(&at[me], 2, memory_order_release);
}

int main(void) {
    together(2, body);
    assert(seen[0] || seen[1]);
}

// Store buffering whose threads write once more, with SC fences (repair of Margalit et al., PLDI 2025, Ex. 3.1).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

static atomic_int at[2];
static int seen[2];

static void body(int me) {
    atomic_store_explicit(&at[me], 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    seen[me] = atomic_load_explicit(&at[1 - me], memory_order_acquire);
    atomic_store_explicit(&at[me], 2, memory_order_release);
}

int main(void) {
    together(2, body);
    assert(seen[0] || seen[1]);
}

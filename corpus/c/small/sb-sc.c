// Store buffering, every access SC (ISO C11, 7.17.3).
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
    if (me == 0) {
        atomic_store(&at[0], 1);
        seen[0] = atomic_load(&at[1]);
    } else {
        atomic_store_explicit(&at[1], 1, memory_order_seq_cst);
        seen[1] = atomic_load(&at[0]);
    }
}

int main(void) {
    together(2, body);
    assert(seen[0] || seen[1]);
}

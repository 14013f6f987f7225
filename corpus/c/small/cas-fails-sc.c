// Store buffering with a compare-and-swap that fails as an SC load (ISO C11, 7.17.7.4).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

static atomic_int x, y;
static int swapped, seen;

static void body(int me) {
    if (me == 0) {
        int expected = 1;
        atomic_store(&x, 1);
        swapped = atomic_compare_exchange_strong_explicit(&y, &expected, 2, memory_order_seq_cst, memory_order_seq_cst);
    } else {
        atomic_store(&y, 1);
        seen = atomic_load(&x);
    }
}

int main(void) {
    together(2, body);
    assert(swapped || seen);
}

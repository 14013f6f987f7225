// A compare-and-swap that fails whatever it finds, and yet must not be stale: what it acquires decides what is read after it.
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//@ run: by-schedule
#include "together.h"

static atomic_int x, y, z;
static int seen = 1;

static void body(int me) {
    if (me == 0) {
        atomic_store_explicit(&z, 1, memory_order_relaxed);
        atomic_store_explicit(&x, 1, memory_order_release); //~ missed
        atomic_store_explicit(&y, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&y, memory_order_relaxed)) {
        int expected = 5; // which it never is: 0 or 1
        (void)atomic_compare_exchange_strong_explicit(&x, &expected, 6, memory_order_relaxed, memory_order_acquire); //~ stale
        seen = atomic_load_explicit(&z, memory_order_relaxed); // 0 only if that found 0
    }
}

int main(void) {
    together(2, body);
    assert(seen);
}

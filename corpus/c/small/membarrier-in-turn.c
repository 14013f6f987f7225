// The fences of membarrier(2) come at moments of their own, not at once in all threads.
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//@ run: by-schedule
#include "together.h"
#include "membarrier.h"

// Thread 1 may have its fence before it begins, and thread 2 after it is done. Then neither has one in between, and thread 2 can
// miss what the caller wrote, though by `passed` it comes after it. With fences at once it could not.
static atomic_int a, b, passed;
static int caller, second;

static void body(int me) {
    if (me == 0) {
        atomic_store_explicit(&b, 1, memory_order_relaxed); //~ missed
        assert(!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
        caller = atomic_load_explicit(&a, memory_order_relaxed); //~ stale
    } else if (me == 1) {
        atomic_store_explicit(&a, 1, memory_order_relaxed); //~ missed
        atomic_store_explicit(&passed, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&passed, memory_order_relaxed)) {
        second = atomic_load_explicit(&b, memory_order_relaxed); //~ stale
    }
}

int main(void) {
    assert(!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
    together(3, body);
}

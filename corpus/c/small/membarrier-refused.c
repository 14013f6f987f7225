// The same, but nobody has registered: a call that fails is no fence.
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//@ run: not-robust
#include "together.h"
#include "membarrier.h"

static atomic_int x, y;
static int light, heavy;

static void body(int me) {
    if (me == 0) {
        atomic_store_explicit(&x, 1, memory_order_relaxed); //~ missed
        atomic_signal_fence(memory_order_seq_cst);
        light = atomic_load_explicit(&y, memory_order_relaxed); //~ stale
    } else {
        atomic_store_explicit(&y, 1, memory_order_relaxed); //~ missed
        assert(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) < 0);
        heavy = atomic_load_explicit(&x, memory_order_relaxed); //~ stale
    }
}

int main(void) {
    assert(membarrier(MEMBARRIER_CMD_QUERY) > 0); // a question is none either
    together(2, body);
    assert(light || heavy);
}

// The same with the fence that goes to all processes which want it.
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"
#include "membarrier.h"

static atomic_int x, y;
static int light, heavy;

static void body(int me) {
    if (me == 0) {
        atomic_store_explicit(&x, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        light = atomic_load_explicit(&y, memory_order_relaxed);
    } else {
        atomic_store_explicit(&y, 1, memory_order_relaxed);
        assert(!membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED));
        heavy = atomic_load_explicit(&x, memory_order_relaxed);
    }
}

int main(void) {
    assert(!membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED));
    together(2, body);
    assert(light || heavy);
}

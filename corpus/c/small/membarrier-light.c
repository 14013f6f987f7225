// Store buffering between two threads whose fences are a third one's (membarrier(2)): nothing tells them when.
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//@ run: by-schedule
#include "together.h"
#include "membarrier.h"

static atomic_int at[2];
static int seen[2];

static void body(int me) {
    if (me == 0) {
        assert(!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
        return;
    }
    atomic_store_explicit(&at[me - 1], 1, memory_order_relaxed); //~ missed
    atomic_signal_fence(memory_order_seq_cst);
    seen[me - 1] = atomic_load_explicit(&at[2 - me], memory_order_relaxed); //~ stale
}

int main(void) {
    assert(!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
    together(3, body);
}

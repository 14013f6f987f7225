// The entry of Dekker's algorithm with SC exchanges and loads (Dijkstra, EWD 123, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

static atomic_int want[2];
static atomic_int inside;

static void body(int me) {
    if (me == 0)
        atomic_exchange(&want[0], 1);
    else
        atomic_exchange_explicit(&want[1], 1, memory_order_seq_cst);
    if (!atomic_load(&want[1 - me])) {
        assert(atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed) == 0);
        atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
    }
}

int main(void) {
    together(2, body);
}

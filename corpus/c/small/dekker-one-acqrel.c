// The entry of Dekker's algorithm with exchanges, one of them acquire-release among SC accesses (Dijkstra, EWD 123, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: robust
//@ tso: robust
//@ run: not-robust
#include "together.h"

static atomic_int want[2];
static atomic_int inside;

static void body(int me) {
    if (me == 0)
        atomic_exchange(&want[0], 1); //~ missed
    else
        atomic_exchange_explicit(&want[1], 1, memory_order_acq_rel); //~ missed
    if (!atomic_load(&want[1 - me])) { //~ stale
        assert(atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed) == 0);
        atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
    }
}

int main(void) {
    together(2, body);
}

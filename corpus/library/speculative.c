//@ specification: none
//@ verdict: robust
//@ because: an attempt that read an old version fails, and then it does not matter what it read ([RoboCop24], appendix C, Fig. 13)
// A value with versions. `observe` reads both and tries to take the next version; only its last attempt counts. So the library is
// not execution-graph robust (an attempt may read an old version), but induced-subgraph robust.
#include <stdatomic.h>

static atomic_int version;
static atomic_int value;

void publish(int new_value) {
    atomic_store_explicit(&value, new_value, memory_order_relaxed);
}

int observe(void) {
    for (;;) {
        int v = atomic_load_explicit(&version, memory_order_acquire);
        int seen = atomic_load_explicit(&value, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&version, &v, v + 1, memory_order_acq_rel, memory_order_relaxed))
            return seen;
    }
}

//@ specification: register
//@ set: register_set
//@ get: register_get
//@ verdict: robust
// A register in a single location. Accesses of one location are in order whatever their modes, so all are relaxed.
#include <stdatomic.h>

struct cell {
    atomic_int value;
};

void register_set(struct cell *c, int value) {
    atomic_store_explicit(&c->value, value, memory_order_relaxed);
}

int register_get(struct cell *c) {
    return atomic_load_explicit(&c->value, memory_order_relaxed);
}

//@ specification: register
//@ set: set
//@ get: get
//@ verdict: robust
// A register whose value comes after its place is announced: `get` waits for it. Values are not 0. Relaxed accesses are enough: each
// node is written once, so whoever sees a value sees the only one.
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    atomic_int value;
};

static _Atomic(struct node *) latest;

void set(int value) {
    struct node *n = calloc(1, sizeof *n);
    atomic_store_explicit(&latest, n, memory_order_relaxed);
    atomic_store_explicit(&n->value, value, memory_order_relaxed);
}

// -1: nothing was set.
int get(void) {
    struct node *n = atomic_load_explicit(&latest, memory_order_relaxed);
    if (n == NULL)
        return -1;
    int value;
    while ((value = atomic_load_explicit(&n->value, memory_order_relaxed)) == 0)
        ;
    return value;
}

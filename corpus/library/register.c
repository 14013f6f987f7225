//@ specification: register
//@ set: register_set
//@ get: register_get
//@ verdict: robust
// A register whose value is in a node of its own ([RoboCop24], Fig. 2): publication by release and acquire.
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
};

static _Atomic(struct node *) latest;

void register_set(int value) {
    struct node *n = malloc(sizeof *n);
    n->value = value;
    atomic_store_explicit(&latest, n, memory_order_release);
}

int register_get(void) {
    struct node *n = atomic_load_explicit(&latest, memory_order_acquire);
    if (n == NULL)
        return -1;
    return n->value;
}

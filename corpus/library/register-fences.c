//@ specification: register
//@ set: register_set
//@ get: register_get
//@ verdict: robust
// The register of register.c in its other form: relaxed accesses and fences publish the node.
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
};

static _Atomic(struct node *) latest;

void register_set(int value) {
    struct node *n = malloc(sizeof *n);
    n->value = value;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&latest, n, memory_order_relaxed);
}

int register_get(void) {
    struct node *n = atomic_load_explicit(&latest, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (n == NULL)
        return -1;
    return n->value;
}

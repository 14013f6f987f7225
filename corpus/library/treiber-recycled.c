//@ specification: stack
//@ add: push
//@ remove: pop
//@ verdict: not-robust
//@ because: a compare-exchange that finds a recycled node does not acquire what its new owner wrote: pop reads the old value
// Treiber's stack with the orders of treiber.c, but a popped node is kept and pushed again.
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct stack {
    _Atomic(struct node *) head;
    _Atomic(struct node *) spare; // at most one node that was popped
};

void push(struct stack *s, int value) {
    struct node *n = atomic_exchange_explicit(&s->spare, NULL, memory_order_acq_rel);
    if (n == NULL)
        n = malloc(sizeof *n);
    n->value = value;
    struct node *old = atomic_load_explicit(&s->head, memory_order_relaxed);
    do {
        n->next = old;
    } while (!atomic_compare_exchange_weak_explicit(&s->head, &old, n, memory_order_release, memory_order_relaxed));
}

// -1: empty.
int pop(struct stack *s) {
    for (;;) {
        struct node *old = atomic_load_explicit(&s->head, memory_order_acquire);
        if (old == NULL)
            return -1;
        struct node *next = old->next;
        if (atomic_compare_exchange_weak_explicit(&s->head, &old, next, memory_order_relaxed, memory_order_relaxed)) {
            int value = old->value;
            atomic_store_explicit(&s->spare, old, memory_order_release);
            return value;
        }
    }
}

//@ specification: stack
//@ add: push
//@ remove: pop
//@ verdict: robust
// Treiber's stack (Systems programming: coping with parallelism, 1986). Nodes are fresh and never freed.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct stack {
    _Atomic(struct node *) head;
};

void push(struct stack *s, int value) {
    struct node *n = malloc(sizeof *n);
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
        if (atomic_compare_exchange_weak_explicit(&s->head, &old, next, memory_order_relaxed, memory_order_relaxed))
            return old->value;
    }
}

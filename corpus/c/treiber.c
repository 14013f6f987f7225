// Stack of nodes that are never used again (Treiber, Systems programming: coping with parallelism, 1986).
//@ run: robust
#include "threads.h"

enum { THREADS = 3, EACH = 400 };
struct node {
    struct node *next;
    int value;
};
static _Atomic(struct node *) top;
static struct node nodes[THREADS][EACH];

static void push(struct node *node) {
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        node->next = old;
    while (!atomic_compare_exchange_weak_explicit(&top, &old, node, memory_order_release, memory_order_relaxed));
}

static struct node *pop(void) {
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (old && !atomic_compare_exchange_weak_explicit(&top, &old, old->next, memory_order_acquire, memory_order_acquire))
        ;
    return old;
}

static void body(int role) {
    for (int i = 0; i < EACH; i++) {
        nodes[role][i].value = 1;
        push(&nodes[role][i]);
    }
    for (int i = 0; i < EACH; i++) {
        struct node *node = pop();
        must(node && node->value-- == 1);
    }
}

int main(void) {
    run(THREADS, 1, body, NULL);
}

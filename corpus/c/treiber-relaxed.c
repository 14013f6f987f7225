// Stack whose push does not release: who pops a node has no right to its contents.
//@ run: race
#include "threads.h"

enum { EACH = 200 };
struct node {
    struct node *next;
    int value;
};
static _Atomic(struct node *) top;
static struct node nodes[EACH];

static void push(struct node *node) {
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        node->next = old; //~ race
    while (!atomic_compare_exchange_weak_explicit(&top, &old, node, memory_order_relaxed, memory_order_relaxed));
}

static struct node *pop(void) {
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (old && !atomic_compare_exchange_weak_explicit(&top, &old, old->next, memory_order_acquire, memory_order_acquire)) //~ race
        ;
    return old;
}

static void body(int role) {
    for (int i = 0; i < EACH; i++) {
        struct node *node = &nodes[i];
        if (role == 0) {
            node->value = 1; //~ race
            push(node);
        } else if ((node = pop())) {
            must(node->value == 1); //~ race
        }
    }
}

int main(void) {
    run(3, 1, body, NULL);
}

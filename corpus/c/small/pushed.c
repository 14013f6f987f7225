// Two threads push onto a stack: a compare-and-swap that fails writes what it found into the node, which is not on the thread's own stack.
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

struct node {
    struct node *next;
};
static _Atomic(struct node *) top;
static struct node nodes[2];

static void body(int me) {
    struct node *node = &nodes[me];
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &node->next, node, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

int main(void) {
    together(2, body);
    int many = 0;
    for (struct node *node = atomic_load(&top); node; node = node->next)
        many++;
    assert(many == 2);
}

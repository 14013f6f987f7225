//@ specification: queue
//@ setup: queue_init
//@ add: enqueue
//@ remove: dequeue
//@ verdict: unproved
//@ because: no client refutes it. What is missing for head and tail is that a node is appended once: destination fails for next, and source at a read of head that another dequeue overtakes
// The queue of Michael and Scott (see michael-scott.c), with a tail that may lag behind the head: then dequeue need not read it, and
// its loop only reads. Nodes are never freed, so a tail that has been dequeued still leads to the last node.
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};

struct queue {
    _Atomic(struct node *) head;
    _Atomic(struct node *) tail; // the last node or one before
};

void queue_init(struct queue *q) {
    struct node *dummy = calloc(1, sizeof *dummy);
    atomic_init(&q->head, dummy);
    atomic_init(&q->tail, dummy);
}

void enqueue(struct queue *q, int value) {
    struct node *n = malloc(sizeof *n);
    n->value = value;
    atomic_store_explicit(&n->next, NULL, memory_order_relaxed);
    for (;;) {
        struct node *tail = atomic_load_explicit(&q->tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&tail->next, memory_order_acquire);
        if (next != NULL) {
            // Help the thread that has appended but not moved the tail yet.
            atomic_compare_exchange_strong_explicit(&q->tail, &tail, next, memory_order_acq_rel, memory_order_acquire);
        } else if (atomic_compare_exchange_strong_explicit(&tail->next, &next, n, memory_order_acq_rel,
                                                           memory_order_acquire)) {
            atomic_compare_exchange_strong_explicit(&q->tail, &tail, n, memory_order_acq_rel, memory_order_acquire);
            return;
        }
    }
}

// -1: empty.
int dequeue(struct queue *q) {
    for (;;) {
        struct node *head = atomic_load_explicit(&q->head, memory_order_acquire);
        struct node *next = atomic_load_explicit(&head->next, memory_order_acquire);
        if (next == NULL)
            return -1;
        int value = next->value;
        if (atomic_compare_exchange_strong_explicit(&q->head, &head, next, memory_order_acq_rel, memory_order_acquire))
            return value;
    }
}

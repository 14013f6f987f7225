//@ specification: queue
//@ setup: queue_init
//@ add: enqueue
//@ remove: dequeue
//@ verdict: robust
// A bounded queue for many producers and consumers, after Vyukov (Bounded MPMC queue, 1024cores.net): each cell has a sequence
// number that says whose turn it is. This form waits while the queue is full or empty; mpmc-try.c gives up.
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE 2 // a power of two

struct cell {
    atomic_size_t sequence;
    int value;
};

struct queue {
    struct cell cells[SIZE];
    atomic_size_t enqueued;
    atomic_size_t dequeued;
};

void queue_init(struct queue *q) {
    for (size_t i = 0; i < SIZE; i++)
        atomic_init(&q->cells[i].sequence, i);
}

void enqueue(struct queue *q, int value) {
    size_t position = atomic_load_explicit(&q->enqueued, memory_order_relaxed);
    struct cell *cell;
    for (;;) {
        cell = &q->cells[position & (SIZE - 1)];
        size_t sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        if (sequence != position)
            position = atomic_load_explicit(&q->enqueued, memory_order_relaxed);
        else if (atomic_compare_exchange_weak_explicit(&q->enqueued, &position, position + 1, memory_order_relaxed,
                                                       memory_order_relaxed))
            break;
    }
    cell->value = value;
    atomic_store_explicit(&cell->sequence, position + 1, memory_order_release);
}

int dequeue(struct queue *q) {
    size_t position = atomic_load_explicit(&q->dequeued, memory_order_relaxed);
    struct cell *cell;
    for (;;) {
        cell = &q->cells[position & (SIZE - 1)];
        size_t sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        if (sequence != position + 1)
            position = atomic_load_explicit(&q->dequeued, memory_order_relaxed);
        else if (atomic_compare_exchange_weak_explicit(&q->dequeued, &position, position + 1, memory_order_relaxed,
                                                       memory_order_relaxed))
            break;
    }
    int value = cell->value;
    atomic_store_explicit(&cell->sequence, position + SIZE, memory_order_release);
    return value;
}

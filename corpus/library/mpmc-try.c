//@ specification: queue
//@ setup: queue_init
//@ add: enqueue
//@ remove: dequeue
//@ verdict: not-robust
//@ because: the positions are relaxed: a thread that reads a new position may read an old sequence number, and say that the queue is full or empty
// A bounded queue for many producers and consumers, after Vyukov (Bounded MPMC queue, 1024cores.net): each cell has a sequence
// number that says whose turn it is. This form gives up when the queue is full or empty; mpmc.c waits.
#include <stdatomic.h>
#include <stdbool.h>
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

bool enqueue(struct queue *q, int value) {
    struct cell *cell;
    size_t position = atomic_load_explicit(&q->enqueued, memory_order_relaxed);
    for (;;) {
        cell = &q->cells[position & (SIZE - 1)];
        size_t sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        intptr_t ahead = (intptr_t)sequence - (intptr_t)position;
        if (ahead == 0) {
            if (atomic_compare_exchange_weak_explicit(&q->enqueued, &position, position + 1, memory_order_relaxed,
                                                      memory_order_relaxed))
                break;
        } else if (ahead < 0) {
            return false;
        } else {
            position = atomic_load_explicit(&q->enqueued, memory_order_relaxed);
        }
    }
    cell->value = value;
    atomic_store_explicit(&cell->sequence, position + 1, memory_order_release);
    return true;
}

bool dequeue(struct queue *q, int *value) {
    struct cell *cell;
    size_t position = atomic_load_explicit(&q->dequeued, memory_order_relaxed);
    for (;;) {
        cell = &q->cells[position & (SIZE - 1)];
        size_t sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        intptr_t ahead = (intptr_t)sequence - (intptr_t)(position + 1);
        if (ahead == 0) {
            if (atomic_compare_exchange_weak_explicit(&q->dequeued, &position, position + 1, memory_order_relaxed,
                                                      memory_order_relaxed))
                break;
        } else if (ahead < 0) {
            return false;
        } else {
            position = atomic_load_explicit(&q->dequeued, memory_order_relaxed);
        }
    }
    *value = cell->value;
    atomic_store_explicit(&cell->sequence, position + SIZE, memory_order_release);
    return true;
}

//@ specification: queue
//@ add: enqueue
//@ remove: dequeue
//@ one-thread: enqueue
//@ one-thread: dequeue
//@ verdict: not-robust
//@ because: store buffering between the indices: W tail; R head || W head; R tail
// The ring buffer that everybody writes, with release and acquire alone. No value is lost, but "full" and "empty" may both be
// out of date, which no order of the calls explains.
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SIZE 2 // a power of two

struct ring {
    atomic_size_t head; // the consumer's
    atomic_size_t tail; // the producer's
    int cells[SIZE];
};

bool enqueue(struct ring *r, int value) {
    size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    size_t head = atomic_load_explicit(&r->head, memory_order_acquire);
    if (tail - head == SIZE)
        return false;
    r->cells[tail & (SIZE - 1)] = value;
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return true;
}

bool dequeue(struct ring *r, int *value) {
    size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    size_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
    if (tail == head)
        return false;
    *value = r->cells[head & (SIZE - 1)];
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    return true;
}

//@ specification: queue
//@ add: enqueue
//@ remove: dequeue
//@ one-thread: enqueue
//@ one-thread: dequeue
//@ verdict: robust
// A queue in an array that never ends, for one producer and one consumer. Nobody waits: an empty queue says so.
#include <stdatomic.h>
#include <stddef.h>

extern int cells[];
static atomic_size_t tail; // the producer's: all cells below are filled
static size_t head;        // the consumer's

void enqueue(int value) {
    size_t t = atomic_load_explicit(&tail, memory_order_relaxed);
    cells[t] = value;
    atomic_store_explicit(&tail, t + 1, memory_order_release);
}

// -1: empty.
int dequeue(void) {
    size_t h = head;
    if (h == atomic_load_explicit(&tail, memory_order_acquire))
        return -1;
    int value = cells[h];
    head = h + 1;
    return value;
}

//@ specification: queue
//@ add: enqueue
//@ remove: dequeue
//@ verdict: robust
// A queue of cells without end: whoever draws a ticket owns the cell with that number (after Gottlieb, Lubachevsky and Rudolph, Basic
// techniques for the efficient coordination of very large numbers of cooperating sequential processors, 1983). Values are not 0.
#include <stdatomic.h>

static atomic_ulong tail;
static atomic_ulong head;
extern _Atomic(long) cells[];

void enqueue(long value) {
    unsigned long mine = atomic_fetch_add_explicit(&tail, 1, memory_order_relaxed);
    atomic_store_explicit(&cells[mine], value, memory_order_release);
}

// Waits for the value of its ticket.
long dequeue(void) {
    unsigned long mine = atomic_fetch_add_explicit(&head, 1, memory_order_relaxed);
    long value;
    do {
        value = atomic_load_explicit(&cells[mine], memory_order_acquire);
    } while (value == 0);
    return value;
}

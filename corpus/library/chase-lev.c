//@ specification: deque
//@ add: push
//@ take: take
//@ steal: steal
//@ one-thread: push take
//@ verdict: unproved
//@ because: no client refutes it. bottom goes down and up, so it is no counter, and without top <= bottom + 1 the solver lets a steal and a take meet in one cell
// A work-stealing deque (Chase and Lev, Dynamic circular work-stealing deque, 2005; orders after Lê, Pop, Cohen, Zappa Nardelli,
// Correct and efficient work-stealing for weak memory models, 2013), in an array of fixed size. The owner pushes and takes at the
// bottom, others steal at the top. Beyond that paper, `push` has a fence for the test whether the array is full, `steal` begins with one
// (the owner may steal, too), and the stores of `take` are releases (thieves read them).
#include <stdatomic.h>
#include <stdbool.h>

#define SIZE 4
#define EMPTY -1
#define LOST -2 // somebody else was faster

static atomic_int cells[SIZE];
static atomic_long top = 1, bottom = 1;

bool push(int value) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    long t = atomic_load_explicit(&top, memory_order_acquire);
    if (b - t >= SIZE)
        return false;
    atomic_store_explicit(&cells[b % SIZE], value, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    return true;
}

int take(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_release);
        return EMPTY;
    }
    int value = atomic_load_explicit(&cells[b % SIZE], memory_order_relaxed);
    if (t == b) {
        // The last one: thieves may want it too.
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
            value = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_release);
    }
    return value;
}

int steal(void) {
    atomic_thread_fence(memory_order_seq_cst);
    long t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return EMPTY;
    int value = atomic_load_explicit(&cells[t % SIZE], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
        return LOST;
    return value;
}

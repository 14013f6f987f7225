//@ specification: none
//@ one-thread: pair_set
//@ verdict: unproved
//@ because: no client refutes it. A reader learns of a write only at its fence, after it has read the data (so source fails), and that an attempt which has seen half a write never ends is not among the conditions (so destination fails)
// A pair of numbers behind a sequence lock (Boehm, Can seqlocks get along with programming language memory models?, 2012): one
// writer, and readers that write nothing but try again if the writer was there meanwhile.
#include <stdatomic.h>

static atomic_uint sequence; // odd while the writer is at work
static atomic_int left, right;

void pair_set(int new_left, int new_right) {
    unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&left, new_left, memory_order_relaxed);
    atomic_store_explicit(&right, new_right, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 2, memory_order_release);
}

void pair_get(int *the_left, int *the_right) {
    for (;;) {
        unsigned s = atomic_load_explicit(&sequence, memory_order_acquire);
        *the_left = atomic_load_explicit(&left, memory_order_relaxed);
        *the_right = atomic_load_explicit(&right, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (s % 2 == 0 && s == atomic_load_explicit(&sequence, memory_order_relaxed))
            return;
    }
}

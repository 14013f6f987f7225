// Sequence lock with relaxed loads of the data and an acquire fence behind them (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
//@ run: not-robust
//
// Correct, as the reader throws such values away, but not robust: it may read a new `low` and then an old `high` in an order that
// no SC run shows.
#include "threads.h"

static atomic_int version, low, high;

static void write_both(int value) {
    int v = atomic_load_explicit(&version, memory_order_relaxed);
    atomic_store_explicit(&version, v + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&low, value, memory_order_relaxed);
    atomic_store_explicit(&high, value, memory_order_relaxed); //~ missed
    atomic_store_explicit(&version, v + 2, memory_order_release);
}

static int read_both(int *l, int *h) {
    int before = atomic_load_explicit(&version, memory_order_acquire);
    if (before % 2 != 0)
        return 0;
    dawdle(); // A reader that takes its time.
    *l = atomic_load_explicit(&low, memory_order_relaxed);
    *h = atomic_load_explicit(&high, memory_order_relaxed); //~ stale
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&version, memory_order_relaxed) == before;
}

static void body(int role) {
    for (int i = 1, l, h; i <= 100; i++) {
        if (role == 0)
            write_both(i);
        else if (read_both(&l, &h))
            must(l == h);
    }
}

int main(void) {
    run(3, 4, body, NULL);
}

// Sequence lock, two writes and a read, with relaxed loads of the data and an acquire fence behind them (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//@ run: by-schedule
//
// Correct, as the reader throws such values away, but not robust under rc20: it may read a new `low` and then an old `high`. That shows
// only where the reader is interrupted after its first load, until the second write has begun: chance hardly finds it (Margalit et al.,
// PLDI 2025, §6.1).
#include "together.h"

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
    *l = atomic_load_explicit(&low, memory_order_relaxed);
    *h = atomic_load_explicit(&high, memory_order_relaxed); //~ stale
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&version, memory_order_relaxed) == before;
}

static void body(int me) {
    int l, h;
    if (me == 0)
        write_both(1), write_both(2);
    else if (read_both(&l, &h))
        assert(l == h);
}

int main(void) {
    together(2, body);
}

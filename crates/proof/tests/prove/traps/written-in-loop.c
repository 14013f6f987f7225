// Between the load of x and the store that adds to it, iterations of a loop write x: it is no counter.
#include <stdatomic.h>
//@ one-thread: m
_Atomic int x, a, b;
int m(void) {
    int r = atomic_load_explicit(&x, memory_order_relaxed);
    if (r != 0) return 0;
    for (;;) {
        int e = 0;
        if (!atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_relaxed, memory_order_relaxed)) break;
    }
    atomic_store_explicit(&x, r + 1, memory_order_relaxed);
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    return atomic_load_explicit(&b, memory_order_relaxed);
}
int n(void) {
    atomic_fetch_or_explicit(&b, 1, memory_order_relaxed);
    return atomic_load_explicit(&a, memory_order_relaxed);
}

// A stale compare-and-swap fails and ends the program, which cannot happen under SC.
#include <stdatomic.h>
#include <stdlib.h>
_Atomic int x, f;
void put(void) {
    atomic_fetch_or_explicit(&x, 1, memory_order_relaxed);
    atomic_fetch_or_explicit(&f, 1, memory_order_relaxed);
}
void take(void) {
    if (atomic_fetch_or_explicit(&f, 0, memory_order_relaxed) == 1) {
        int e = 1;
        if (!atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_relaxed, memory_order_relaxed)) abort();
    }
}

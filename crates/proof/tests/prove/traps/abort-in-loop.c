// The same in a loop whose failing iterations only read.
#include <stdatomic.h>
#include <stdlib.h>
_Atomic int x, f;
void put(void) {
    int e = 0;
    atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_relaxed, memory_order_relaxed);
    e = 0;
    atomic_compare_exchange_strong_explicit(&f, &e, 1, memory_order_relaxed, memory_order_relaxed);
}
void take(void) {
    for (;;) {
        if (atomic_load_explicit(&f, memory_order_relaxed) == 0) continue;
        if (atomic_load_explicit(&x, memory_order_relaxed) == 0) abort();
        break;
    }
}

// Before the compare-and-swap that would confirm the read of x fails for ever, the call has shown what it read.
#include <stdatomic.h>
_Atomic int x, f, y;
void inc(void) {
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&f, 1, memory_order_relaxed);
}
void probe(void) {
    if (atomic_fetch_add_explicit(&f, 0, memory_order_relaxed) == 1) {
        int a = atomic_load_explicit(&x, memory_order_relaxed);
        atomic_exchange_explicit(&y, a + 1, memory_order_relaxed);
        for (;;) {
            int e = a;
            if (atomic_compare_exchange_strong_explicit(&x, &e, a + 1, memory_order_relaxed, memory_order_relaxed)) break;
        }
    }
}
int get_y(void) { return atomic_fetch_add_explicit(&y, 0, memory_order_relaxed); }

// The same inside of other loops.
#include <stdatomic.h>
#include <stdlib.h>
_Atomic int x, y, z;
void a(void) {
    for (;;) {
        int v = atomic_fetch_or_explicit(&z, 0, memory_order_relaxed);
        if (v == 1) {
           atomic_store_explicit(&x, 1, memory_order_relaxed);
           int r = atomic_load_explicit(&y, memory_order_relaxed);
           if (r == 0) atomic_store_explicit(&z, 2, memory_order_relaxed);
           for (;;) { }
        }
        break;
    }
}
void b(void) {
    for (;;) {
        int v = atomic_fetch_or_explicit(&z, 0, memory_order_relaxed);
        if (v == 1) {
           atomic_store_explicit(&y, 1, memory_order_relaxed);
           int r = atomic_load_explicit(&x, memory_order_relaxed);
           if (r == 0) atomic_store_explicit(&z, 3, memory_order_relaxed);
           for (;;) { }
        }
        break;
    }
}
void go(void) { atomic_fetch_or_explicit(&z, 1, memory_order_relaxed); }

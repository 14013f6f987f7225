// Store buffering before loops that are never left: the calls do not end, but what they did is there.
#include <stdatomic.h>
_Atomic int x, y, z;
void serve(void) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    int r = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&z, r + 1, memory_order_relaxed);
    for (;;) { }
}
void serve2(void) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    int r = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_store_explicit(&z, r + 3, memory_order_relaxed);
    for (;;) { }
}
int get(void) { return atomic_load_explicit(&z, memory_order_relaxed); }

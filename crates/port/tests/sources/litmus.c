// The shapes that tell machines apart, one by -D: SB (store buffering), MP (message passing), LB (load buffering), LOOP (a flag that
// is waited for), CAS (a lock taken with a compare-and-swap that does not order), EDGE (a fence is needed on one way only).
#include "threads.h"

static atomic_int x, y, seen;

#if defined SB
static void *left(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&seen, atomic_load_explicit(&y, memory_order_relaxed), memory_order_relaxed);
    return unused;
}
static void *right(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_store_explicit(&seen, atomic_load_explicit(&x, memory_order_relaxed), memory_order_relaxed);
    return unused;
}
#elif defined MP
static void *left(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return unused;
}
static void *right(void *unused) {
    int a = atomic_load_explicit(&y, memory_order_relaxed);
    int b = atomic_load_explicit(&x, memory_order_relaxed);
    return a && !b ? 0 : unused;
}
#elif defined LB
static void *left(void *unused) {
    int a = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return a ? 0 : unused;
}
static void *right(void *unused) {
    int a = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return a ? 0 : unused;
}
#elif defined LOOP
static int data;
static void *left(void *unused) {
    data = 42;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return unused;
}
static void *right(void *unused) {
    while (!atomic_load_explicit(&x, memory_order_relaxed))
        ;
    return data == 42 ? unused : 0;
}
#elif defined CAS
static int data;
static void *left(void *unused) {
    int free = 0;
    while (!atomic_compare_exchange_weak_explicit(&x, &free, 1, memory_order_relaxed, memory_order_relaxed))
        free = 0;
    data++;
    atomic_store_explicit(&x, 0, memory_order_relaxed);
    return unused;
}
#define right left
#elif defined EDGE
static void *left(void *unused) {
    for (int i = 0; i < 100; i++) {
        if (atomic_load_explicit(&seen, memory_order_relaxed) == i)
            atomic_store_explicit(&x, i, memory_order_relaxed);
        else if (i % 3)
            atomic_store_explicit(&x, -i, memory_order_relaxed);
        atomic_store_explicit(&y, i, memory_order_relaxed);
    }
    return unused;
}
static void *right(void *unused) {
    int a = atomic_load_explicit(&y, memory_order_relaxed);
    int b = atomic_load_explicit(&x, memory_order_relaxed);
    return a && !b ? 0 : unused;
}
#endif

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, left, 0);
    pthread_create(&b, 0, right, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

//@ specification: register
//@ set: set1
//@ get: get1
//@ verdict: robust
// The first of two registers ([RoboCop24], Fig. 1).
#include <stdatomic.h>

static atomic_int first;

void set1(int value) {
    atomic_store_explicit(&first, value, memory_order_release);
}

int get1(void) {
    return atomic_load_explicit(&first, memory_order_acquire);
}

//@ specification: register
//@ set: set2
//@ get: get2
//@ verdict: robust
// The second of two registers ([RoboCop24], Fig. 1).
#include <stdatomic.h>

static atomic_int second;

void set2(int value) {
    atomic_store_explicit(&second, value, memory_order_release);
}

int get2(void) {
    return atomic_load_explicit(&second, memory_order_acquire);
}

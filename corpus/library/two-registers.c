//@ specification: none
//@ verdict: not-robust
//@ because: store buffering: set_left; get_right || set_right; get_left
// Two registers in one library. Each alone is robust, but release and acquire do not order a store before a later load.
#include <stdatomic.h>

static atomic_int left, right;

void set_left(int value) {
    atomic_store_explicit(&left, value, memory_order_release);
}

int get_left(void) {
    return atomic_load_explicit(&left, memory_order_acquire);
}

void set_right(int value) {
    atomic_store_explicit(&right, value, memory_order_release);
}

int get_right(void) {
    return atomic_load_explicit(&right, memory_order_acquire);
}

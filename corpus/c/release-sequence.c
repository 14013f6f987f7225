// Message passing through a release sequence: a relaxed update in between keeps the release (Vafeiadis et al., POPL 2015).
//@ run: robust
#include "threads.h"

static atomic_int data, flag;

static void body(int role) {
    if (role == 0) {
        atomic_store_explicit(&data, 1, memory_order_relaxed);
        atomic_store_explicit(&flag, 1, memory_order_release);
    } else if (role == 1) {
        atomic_fetch_add_explicit(&flag, 2, memory_order_relaxed);
    } else if (atomic_load_explicit(&flag, memory_order_acquire) % 2 == 1) {
        must(atomic_load_explicit(&data, memory_order_relaxed) == 1);
    }
}

static void reset(void) {
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
    atomic_store_explicit(&data, 0, memory_order_relaxed);
}

int main(void) {
    run(3, 100, body, reset);
}

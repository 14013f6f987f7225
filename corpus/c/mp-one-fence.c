// Message passing with a release fence and nothing on the other side (Batty et al., C11, POPL 2011).
//@ run: not-robust
#include "threads.h"

static atomic_int data, flag;

static void body(int role) {
    if (role == 0) {
        atomic_store_explicit(&data, 1, memory_order_relaxed); //~ missed
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&flag, memory_order_relaxed)) {
        must(atomic_load_explicit(&data, memory_order_relaxed) == 1); //~ stale
    }
}

static void reset(void) {
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
    atomic_store_explicit(&data, 0, memory_order_relaxed);
}

int main(void) {
    run(2, 100, body, reset);
}

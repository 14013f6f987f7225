// Message passing: a release store and an acquire load (Lahav & Margalit, PLDI 2019).
//@ run: robust
#include "threads.h"

static atomic_int data, flag;

static void body(int role) {
    if (role == 0) {
        atomic_store_explicit(&data, 1, memory_order_relaxed);
        atomic_store_explicit(&flag, 1, memory_order_release);
    } else if (atomic_load_explicit(&flag, memory_order_acquire)) {
        must(atomic_load_explicit(&data, memory_order_relaxed) == 1);
    }
}

static void reset(void) {
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
    atomic_store_explicit(&data, 0, memory_order_relaxed);
}

int main(void) {
    run(2, 100, body, reset);
}

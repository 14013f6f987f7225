// Message passing of plain data with a release fence and an acquire fence: no race, though ThreadSanitizer reports one (Batty et al., C11, POPL 2011).
//@ run: robust
#include "threads.h"

static int data;
static atomic_int flag;

static void body(int role) {
    if (role == 0) {
        data = 1;
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&flag, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        must(data == 1);
    }
}

static void reset(void) {
    data = 0;
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
}

int main(void) {
    run(2, 100, body, reset);
}

// Test-and-set lock that is released without release: what it protects is not protected.
//@ run: race
#include "threads.h"

static atomic_int lock;
static int inside;

static void body(int role) {
    (void)role;
    for (int i = 0; i < 50; i++) {
        while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
            sched_yield();
        inside++; //~ race
        atomic_store_explicit(&lock, 0, memory_order_relaxed);
    }
}

int main(void) {
    run(3, 4, body, NULL);
}

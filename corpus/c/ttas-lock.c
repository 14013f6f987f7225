// Test-and-test-and-set lock around data that is not atomic (Rudolph & Segall, ISCA 1984).
//@ run: robust
#include "threads.h"

static atomic_int lock;
static int inside;

static void body(int role) {
    (void)role;
    for (int i = 0; i < 50; i++) {
        while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
            while (atomic_load_explicit(&lock, memory_order_relaxed))
                sched_yield();
        inside++;
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
}

int main(void) {
    run(3, 4, body, NULL);
    must(inside == 600);
}

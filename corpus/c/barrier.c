// Sense-reversing barrier (Mellor-Crummey & Scott, TOCS 1991).
//@ run: robust
#include "threads.h"

enum { THREADS = 3 };
static atomic_int missing = THREADS, sense;
static int written[THREADS];

static void meet(int *mine) {
    *mine = !*mine;
    if (atomic_fetch_sub_explicit(&missing, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&missing, THREADS, memory_order_relaxed);
        atomic_store_explicit(&sense, *mine, memory_order_release);
    } else {
        while (atomic_load_explicit(&sense, memory_order_acquire) != *mine)
            sched_yield();
    }
}

static void body(int role) {
    int mine = 0;
    for (int i = 1; i <= 20; i++) {
        written[role] = i;
        meet(&mine);
        must(written[(role + 1) % THREADS] == i);
        meet(&mine);
    }
}

int main(void) {
    run(THREADS, 1, body, NULL);
}

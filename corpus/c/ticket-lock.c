// Ticket lock around data that is not atomic (Reed & Kanodia, CACM 1979; Mellor-Crummey & Scott, TOCS 1991).
//@ run: robust
#include "threads.h"

static atomic_uint next, serving;
static int inside;

static void body(int role) {
    (void)role;
    for (int i = 0; i < 50; i++) {
        unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_acq_rel);
        while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
            sched_yield();
        inside++;
        atomic_store_explicit(&serving, mine + 1, memory_order_release);
    }
}

int main(void) {
    run(3, 4, body, NULL);
    must(inside == 600);
}

// Ticket lock whose tickets are drawn relaxed, as is usual (Mellor-Crummey & Scott, TOCS 1991).
//@ run: not-robust
//
// Correct, but not robust: who holds ticket n has seen that n - 1 was drawn, perhaps by somebody who had already called n - 1, and
// may still read an older number. It waits longer then, and nothing else happens: where a run shows that, it is a benign wait.
#include "threads.h"

static atomic_uint next, serving;
static int inside;

static void body(int role) {
    (void)role;
    for (int i = 0; i < 50; i++) {
        unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
        while (atomic_load_explicit(&serving, memory_order_acquire) != mine) //~ stale
            sched_yield();
        inside++;
        atomic_store_explicit(&serving, mine + 1, memory_order_release); //~ missed
    }
}

int main(void) {
    run(3, 4, body, NULL);
    must(inside == 600);
}

// Threads count events without order, but say without release that they are done (Margalit & Lahav, POPL 2021).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//@ run: not-robust
//@ args: 2 | 4 | 8
#include "together.h"
#include <seqcst.h>

enum { EVENTS = 2 };
static atomic_int count[MOST], done[MOST];
static int threads;

static void body(int me) {
    if (me > 0) {
        for (int i = 0; i < EVENTS; i++)
            atomic_fetch_add_explicit(&count[(me + i) % MOST], 1, memory_order_relaxed); //~ missed
        atomic_store_explicit(&done[me], 1, memory_order_relaxed);
        return;
    }
    for (int other = 1; other < threads; other++)
        SEQCST_WAIT(&done[other], 1, memory_order_acquire);
    int sum = 0;
    for (int i = 0; i < MOST; i++)
        sum += atomic_load_explicit(&count[i], memory_order_relaxed); //~ stale
    assert(sum == EVENTS * (threads - 1));
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 2, 2, MOST);
    together(threads, body);
}

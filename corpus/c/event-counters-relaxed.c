// Threads count events without order, but say without release that they are done (Margalit & Lahav, POPL 2021).
//@ run: not-robust
//@ args: 2 | 3 | 4 | 5 | 6 | 7 | 8
#include "threads.h"

enum { MOST = 8, EVENTS = 20 };
static atomic_int count[MOST], done[MOST];
static int threads = 2;

static void body(int me) {
    if (me > 0) {
        for (int i = 0; i < EVENTS; i++)
            atomic_fetch_add_explicit(&count[(me + i * i) % MOST], 1, memory_order_relaxed); //~ missed
        atomic_store_explicit(&done[me], 1, memory_order_relaxed);
        return;
    }
    for (int other = 1; other < threads; other++)
        while (!atomic_load_explicit(&done[other], memory_order_acquire))
            sched_yield();
    int sum = 0;
    for (int i = 0; i < MOST; i++)
        sum += atomic_load_explicit(&count[i], memory_order_relaxed); //~ stale
    must(sum == EVENTS * (threads - 1));
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 2 || threads > MOST)
        return 2;
    run(threads, 1, body, NULL);
}

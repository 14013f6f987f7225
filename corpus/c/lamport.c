// Lamport's fast mutual exclusion, release/acquire (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ run: not-robust
//@ args: 2 | 3 | 4
#include "threads.h"

enum { MOST = 4 };
static atomic_int x, y, busy[MOST + 1];
static int threads = 2, inside;

static void lock(int me) {
start:
    atomic_store_explicit(&busy[me], 1, memory_order_release); //~ missed
    atomic_store_explicit(&x, me, memory_order_release); //~ stale missed
    if (atomic_load_explicit(&y, memory_order_acquire) != 0) { //~ stale
        atomic_store_explicit(&busy[me], 0, memory_order_release); //~ missed
        while (atomic_load_explicit(&y, memory_order_acquire) != 0) //~ stale
            sched_yield();
        goto start;
    }
    atomic_store_explicit(&y, me, memory_order_release); //~ stale missed
    if (atomic_load_explicit(&x, memory_order_acquire) != me) { //~ stale
        atomic_store_explicit(&busy[me], 0, memory_order_release); //~ missed
        for (int other = 1; other <= threads; other++)
            while (atomic_load_explicit(&busy[other], memory_order_acquire)) //~ stale
                sched_yield();
        if (atomic_load_explicit(&y, memory_order_acquire) != me) { //~ stale
            while (atomic_load_explicit(&y, memory_order_acquire) != 0) //~ stale
                sched_yield();
            goto start;
        }
    }
}

static void unlock(int me) {
    atomic_store_explicit(&y, 0, memory_order_release); //~ stale missed
    atomic_store_explicit(&busy[me], 0, memory_order_release); //~ missed
}

static void body(int role) {
    for (int i = 0; i < 20; i++) {
        lock(role + 1);
        inside++;
        unlock(role + 1);
    }
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 2 || threads > MOST)
        return 2;
    run(threads, 5, body, NULL);
    must(inside == 100 * threads);
}

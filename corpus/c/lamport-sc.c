// Lamport's fast mutual exclusion, every access SC (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ run: robust
//@ args: 2 | 3 | 4
#include "threads.h"

enum { MOST = 4 };
static atomic_int x, y, busy[MOST + 1];
static int threads = 2, inside;

static void lock(int me) {
start:
    atomic_store(&busy[me], 1);
    atomic_store(&x, me);
    if (atomic_load(&y) != 0) {
        atomic_store(&busy[me], 0);
        while (atomic_load(&y) != 0)
            sched_yield();
        goto start;
    }
    atomic_store(&y, me);
    if (atomic_load(&x) != me) {
        atomic_store(&busy[me], 0);
        for (int other = 1; other <= threads; other++)
            while (atomic_load(&busy[other]))
                sched_yield();
        if (atomic_load(&y) != me) {
            while (atomic_load(&y) != 0)
                sched_yield();
            goto start;
        }
    }
}

static void unlock(int me) {
    atomic_store(&y, 0);
    atomic_store(&busy[me], 0);
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

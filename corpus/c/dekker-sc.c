// Dekker's mutual exclusion, every access SC (Dijkstra, Cooperating sequential processes, 1965).
//@ run: robust
#include "threads.h"

static atomic_int want[2], turn;
static int inside;

static void body(int me) {
    int other = 1 - me;
    for (int i = 0; i < 20; i++) {
        atomic_store(&want[me], 1);
        while (atomic_load(&want[other])) {
            if (atomic_load(&turn) != me) {
                atomic_store(&want[me], 0);
                while (atomic_load(&turn) != me)
                    sched_yield();
                atomic_store(&want[me], 1);
            }
        }
        inside++;
        atomic_store(&turn, other);
        atomic_store(&want[me], 0);
    }
}

int main(void) {
    run(2, 5, body, NULL);
    must(inside == 200);
}

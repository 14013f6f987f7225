// Dekker's mutual exclusion, two critical sections each, release/acquire (Dijkstra, Cooperating sequential processes, 1965; after Sober, CAV 2008, Fig. 4a).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//@ run: not-robust
//@ args: 1 | 2
#include "together.h"
#include <seqcst.h>

static atomic_int want[2], turn;
static int sections, inside;

static void enter(int me) {
    int other = 1 - me;
    atomic_store_explicit(&want[me], 1, memory_order_release); //~ missed
    while (atomic_load_explicit(&want[other], memory_order_acquire)) { //~ stale
        if (atomic_load_explicit(&turn, memory_order_acquire) == me) {
            sched_yield();
            continue;
        }
        atomic_store_explicit(&want[me], 0, memory_order_release); //~ missed
        SEQCST_WAIT(&turn, me, memory_order_acquire);
        atomic_store_explicit(&want[me], 1, memory_order_release); //~ missed
    }
}

static void leave(int me) {
    atomic_store_explicit(&turn, 1 - me, memory_order_release);
    atomic_store_explicit(&want[me], 0, memory_order_release);
}

static void body(int me) {
    for (int i = 0; i < sections; i++) {
        enter(me);
        inside++; // Who is not alone here races.
        leave(me);
    }
}

int main(int argc, char **argv) {
    sections = argument(argc, argv, 2, 1, 20);
    together(2, body);
    assert(inside == 2 * sections);
}

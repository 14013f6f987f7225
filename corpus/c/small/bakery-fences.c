// Lamport's bakery, three critical sections in all, with SC fences after each announcement (Lamport, A new solution of Dijkstra's concurrent programming problem, CACM 1974; after Sober, CAV 2008, Fig. 4a).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
//@ args: 2 | 3
#include "together.h"
#include <seqcst.h>

static atomic_int choosing[2], number[2];
static int sections, inside;

static void enter(int me) {
    int other = 1 - me;
    atomic_store_explicit(&choosing[me], 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    int mine = 1 + atomic_load_explicit(&number[other], memory_order_acquire);
    atomic_store_explicit(&number[me], mine, memory_order_release);
    atomic_store_explicit(&choosing[me], 0, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    SEQCST_WAIT(&choosing[other], 0, memory_order_acquire);
    for (;;) {
        int theirs = atomic_load_explicit(&number[other], memory_order_acquire);
        if (theirs == 0 || theirs > mine || (theirs == mine && other > me))
            return;
        sched_yield();
    }
}

static void leave(int me) {
    atomic_store_explicit(&number[me], 0, memory_order_release);
}

static void body(int me) {
    for (int i = me; i < sections; i += 2) {
        enter(me);
        inside++; // Who is not alone here races.
        leave(me);
    }
}

int main(int argc, char **argv) {
    sections = argument(argc, argv, 3, 2, 20);
    together(2, body);
    assert(inside == sections);
}

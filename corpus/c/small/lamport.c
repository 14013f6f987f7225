// Lamport's fast mutual exclusion, one critical section each, release/acquire (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//@ run: not-robust
//@ args: 2 | 3
#include "together.h"
#include <seqcst.h>

static atomic_int x, y, busy[MOST + 1];
static int threads, inside;

static void enter(int me) {
start:
    atomic_store_explicit(&busy[me], 1, memory_order_release); //~ missed
    atomic_store_explicit(&x, me, memory_order_release); //~ stale missed
    if (atomic_load_explicit(&y, memory_order_acquire) != 0) { //~ stale
        atomic_store_explicit(&busy[me], 0, memory_order_release); //~ missed
        SEQCST_WAIT(&y, 0, memory_order_acquire); //~ stale
        goto start;
    }
    atomic_store_explicit(&y, me, memory_order_release); //~ stale missed
    if (atomic_load_explicit(&x, memory_order_acquire) != me) { //~ stale
        atomic_store_explicit(&busy[me], 0, memory_order_release); //~ missed
        for (int other = 1; other <= threads; other++)
            SEQCST_WAIT(&busy[other], 0, memory_order_acquire); //~ stale
        if (atomic_load_explicit(&y, memory_order_acquire) != me) { //~ stale
            SEQCST_WAIT(&y, 0, memory_order_acquire); //~ stale
            goto start;
        }
    }
}

static void leave(int me) {
    atomic_store_explicit(&y, 0, memory_order_release); //~ stale missed
    atomic_store_explicit(&busy[me], 0, memory_order_release); //~ missed
}

static void body(int me) {
    enter(me + 1);
    inside++; // Who is not alone here races.
    leave(me + 1);
}

int main(int argc, char **argv) {
    threads = argument(argc, argv, 2, 2, MOST);
    together(threads, body);
    assert(inside == threads);
}

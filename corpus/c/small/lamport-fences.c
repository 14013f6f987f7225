// Lamport's fast mutual exclusion, one critical section each, with SC fences before and after the store of x, and after that of y (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
//@ args: 2
//
// With three threads that is not enough: corpus/algorithms/lamport2-3-rc20.tpl.
#include "together.h"
#include <seqcst.h>

static atomic_int x, y, busy[MOST + 1];
static int threads, inside;

static void enter(int me) {
start:
    atomic_store_explicit(&busy[me], 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&x, me, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&y, memory_order_acquire) != 0) {
        atomic_store_explicit(&busy[me], 0, memory_order_release);
        SEQCST_WAIT(&y, 0, memory_order_acquire);
        goto start;
    }
    atomic_store_explicit(&y, me, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&x, memory_order_acquire) != me) {
        atomic_store_explicit(&busy[me], 0, memory_order_release);
        for (int other = 1; other <= threads; other++)
            SEQCST_WAIT(&busy[other], 0, memory_order_acquire);
        if (atomic_load_explicit(&y, memory_order_acquire) != me) {
            SEQCST_WAIT(&y, 0, memory_order_acquire);
            goto start;
        }
    }
}

static void leave(int me) {
    atomic_store_explicit(&y, 0, memory_order_release);
    atomic_store_explicit(&busy[me], 0, memory_order_release);
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

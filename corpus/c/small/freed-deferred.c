// A writer replaces a block and frees the old one when no reader can have it (in the manner of RCU).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

static _Atomic(int *) current;
static atomic_int reading;

static void body(int me) {
    if (me == 0) {
        int *new = malloc(sizeof *new);
        *new = 2;
        int *old = atomic_exchange(&current, new);
        while (atomic_load(&reading))
            sched_yield();
        free(old);
        return;
    }
    atomic_store(&reading, 1);
    int *seen = atomic_load(&current);
    assert(*seen == 1 || *seen == 2);
    atomic_store(&reading, 0);
}

int main(void) {
    int *first = malloc(sizeof *first);
    *first = 1;
    atomic_store(&current, first);
    together(2, body);
    free(atomic_load(&current));
}

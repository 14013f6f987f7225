// As freed-first, with an atomic in the block, which is counted down once too often.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static _Atomic(atomic_int *) box;

static void body(int me) {
    if (me == 0) {
        atomic_int *count = malloc(sizeof *count);
        atomic_store(count, 1);
        if (atomic_fetch_sub(count, 1) == 1)
            free(count); //~ ended
        atomic_store(&box, count);
        return;
    }
    atomic_int *count;
    while (!(count = atomic_load(&box)))
        sched_yield();
    atomic_fetch_sub(count, 1); //~ misuse
}

int main(void) {
    together(2, body);
}

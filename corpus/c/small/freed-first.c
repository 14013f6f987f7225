// A block is handed over after it was freed: everything is ordered, and the reader comes too late.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static _Atomic(int *) box;

static void body(int me) {
    if (me == 0) {
        int *block = malloc(sizeof *block);
        *(volatile int *)block = 1;
        free(block); //~ ended
        atomic_store(&box, block);
        return;
    }
    int *block;
    while (!(block = atomic_load(&box)))
        sched_yield();
    assert(*(volatile int *)block == 1); //~ misuse
}

int main(void) {
    together(2, body);
}

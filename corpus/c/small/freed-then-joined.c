// A thread frees a block; who has joined it reads it.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static int *block;

static void body(int me) {
    if (me == 1)
        free(block); //~ ended
}

int main(void) {
    block = calloc(100, sizeof *block);
    together(2, body);
    return ((volatile int *)block)[50]; //~ misuse
}

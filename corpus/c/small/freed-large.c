// A large block: its last element is read after it was freed.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static long *volatile block;

static void body(int me) {
    if (me == 1)
        free((void *)block); //~ ended
}

int main(void) {
    block = calloc(20000, sizeof *block);
    together(2, body);
    return (int)((volatile long *)block)[19999]; //~ misuse
}

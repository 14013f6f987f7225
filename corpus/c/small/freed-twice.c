// Two threads free the same block, one after the other or at the same time.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static void *block;

static void body(int me) {
    (void)me;
    free(block); //~ misuse ended
}

int main(void) {
    block = calloc(3, 100);
    together(2, body);
}

// What is freed is no beginning of a block.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static char *block, *inside;

static void body(int me) {
    if (me == 1)
        free(inside); //~ misuse
}

int main(void) {
    block = calloc(3, 100);
    inside = block + 32;
    together(2, body);
    free(block);
}

// No block begins at a multiple of 24 bytes and of nothing else.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static void body(int me) {
    void *block = NULL;
    if (me == 1 && posix_memalign(&block, 24, 100) == 0) //~ misuse
        free(block);
}

int main(void) {
    together(2, body);
}

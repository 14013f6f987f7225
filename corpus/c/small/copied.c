// A part of a buffer is copied while another thread writes it: both by calls whose size the compiler knows.
//@ sc: race
//@ ra: race
//@ rc11: race
//@ rc20: race
//@ tso: race
//@ run: race
#include "together.h"
#include <string.h>

enum { PART = 24 };
char shared[40], given[40], taken[40];

static void body(int me) {
    if (me == 0)
        memcpy(shared, given, PART); //~ race
    else
        memcpy(taken, shared, PART); //~ race
}

int main(void) {
    together(2, body);
}

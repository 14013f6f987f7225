// One thread frees what another still reads.
//@ run: race
// If the free comes first, the read is a use after free.
#include "threads.h"

static int *shared;

static void body(int role) {
    if (role == 0)
        free(shared); //~ race ended
    else if (role == 1)
        (void)*(volatile int *)shared; //~ race misuse
}

static void make(void) {
    shared = calloc(1000, sizeof *shared);
    must(shared != NULL);
}

int main(void) {
    make();
    run(2, 20, body, make);
}

// One thread frees what another still reads.
//@ run: race
#include "threads.h"

static int *shared;

static void body(int role) {
    if (role == 0)
        free(shared); //~ race
    else if (role == 1)
        (void)*(volatile int *)shared; //~ race
}

static void make(void) {
    shared = calloc(1000, sizeof *shared);
    must(shared != NULL);
}

int main(void) {
    make();
    run(2, 20, body, make);
}

// Two threads write what is not atomic, and nothing orders them.
//@ run: race
#include "threads.h"

static volatile int shared;

static void body(int role) {
    shared = role; //~ race
}

int main(void) {
    run(2, 1, body, NULL);
}

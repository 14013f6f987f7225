// One thread stores atomically what another reads as if it were alone.
//@ run: race
#include "threads.h"

static atomic_int shared;

static void body(int role) {
    if (role == 0)
        atomic_store_explicit(&shared, 1, memory_order_release); //~ race
    else
        must(*(volatile int *)&shared < 2); //~ race
}

int main(void) {
    run(2, 10, body, NULL);
}

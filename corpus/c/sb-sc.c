// Store buffering, every access SC (ISO C11, 7.17.3).
//@ run: robust
#include "threads.h"

static atomic_int at[2];
static int seen[2];

static void body(int me) {
    atomic_store(&at[me], 1);
    seen[me] = atomic_load(&at[1 - me]);
}

static void reset(void) {
    must(seen[0] || seen[1]);
    atomic_store(&at[0], 0);
    atomic_store(&at[1], 0);
}

int main(void) {
    run(2, 100, body, reset);
}

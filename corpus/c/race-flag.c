// Message passing of plain data with a relaxed flag: a race whenever the flag is seen (Batty et al., C11, POPL 2011).
//@ run: race
#include "threads.h"

static int data;
static atomic_int flag;

static void body(int role) {
    if (role == 0) {
        data = 1; //~ race
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&flag, memory_order_acquire)) {
        must(data == 1); //~ race
    }
}

static void reset(void) {
    data = 0;
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
}

int main(void) {
    run(2, 50, body, reset);
}

// A barrier is destroyed, and a thread comes to it.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static pthread_barrier_t barrier;
static atomic_int gone;

static void body(int me) {
    if (me == 0) {
        pthread_barrier_destroy(&barrier); //~ ended
        atomic_store(&gone, 1);
        return;
    }
    while (!atomic_load(&gone))
        sched_yield();
    pthread_barrier_wait(&barrier); //~ misuse
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 1);
    together(2, body);
}

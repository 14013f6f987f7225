// A mutex is unlocked by a thread that has not locked it.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int locked;

static void body(int me) {
    if (me == 0) {
        pthread_mutex_lock(&mutex);
        atomic_store(&locked, 1);
        return;
    }
    while (!atomic_load(&locked))
        sched_yield();
    pthread_mutex_unlock(&mutex); //~ misuse
}

int main(void) {
    together(2, body);
}

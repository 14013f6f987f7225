// A mutex is destroyed and used again.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int gone;

static void body(int me) {
    if (me == 0) {
        pthread_mutex_destroy(&mutex); //~ ended
        atomic_store(&gone, 1);
        return;
    }
    while (!atomic_load(&gone))
        sched_yield();
    pthread_mutex_lock(&mutex); //~ misuse
}

int main(void) {
    together(2, body);
}

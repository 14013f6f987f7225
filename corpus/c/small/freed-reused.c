// What one thread frees the other one may get, again and again, under a lock.
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *shared;

static void body(int me) {
    for (int round = 0; round < 2; round++) {
        pthread_mutex_lock(&mutex);
        free(shared);
        shared = malloc(40);
        for (int i = 0; i < 40; i++)
            shared[i] = (char)me;
        pthread_mutex_unlock(&mutex);
    }
}

int main(void) {
    together(2, body);
    free(shared);
}

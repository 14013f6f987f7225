// A mutex goes with the object that it protects, and another thread still waits its turn.
//@ sc: misuse
//@ ra: misuse
//@ rc11: misuse
//@ rc20: misuse
//@ tso: misuse
//@ run: misuse
#include "together.h"

static struct object {
    pthread_mutex_t mutex;
    int value;
} *object;
static atomic_int gone;

static void body(int me) {
    if (me == 0) {
        pthread_mutex_lock(&object->mutex);
        object->value = 1;
        pthread_mutex_unlock(&object->mutex);
        free(object); //~ ended
        atomic_store(&gone, 1);
        return;
    }
    while (!atomic_load(&gone))
        sched_yield();
    pthread_mutex_lock(&object->mutex); //~ misuse
    pthread_mutex_unlock(&object->mutex); //~ misuse
}

int main(void) {
    object = malloc(sizeof *object);
    pthread_mutex_init(&object->mutex, NULL);
    together(2, body);
}

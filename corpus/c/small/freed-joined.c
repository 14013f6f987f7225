// A block goes from thread to thread, and is freed when nobody has it any more. Mutex and barrier end their lives in time.
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

static struct object {
    pthread_mutex_t mutex;
    atomic_int users;
    int value;
} *object;
static pthread_barrier_t barrier;

static void leave(struct object *from) {
    pthread_mutex_lock(&from->mutex);
    from->value++;
    pthread_mutex_unlock(&from->mutex);
    if (atomic_fetch_sub(&from->users, 1) == 1) {
        pthread_mutex_destroy(&from->mutex);
        free(from);
    }
}

static void body(int me) {
    (void)me;
    pthread_barrier_wait(&barrier);
    leave(object);
}

// The same place on the stack is one mutex after the other, initialised by an assignment.
static int locally(int value) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    value++;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    return value;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    object = malloc(sizeof *object);
    *object = (struct object){.mutex = PTHREAD_MUTEX_INITIALIZER, .users = 2};
    together(2, body);
    pthread_barrier_destroy(&barrier);
    assert(locally(locally(1)) == 3);
    int *block = malloc(sizeof *block);
    block = realloc(block, 1000 * sizeof *block);
    block[999] = 1;
    free(block);
}

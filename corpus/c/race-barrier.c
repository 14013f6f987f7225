// Two threads write between two meetings at one barrier: one may leave the first meeting when the other is already at the second.
//@ run: race
#include <pthread.h>

static pthread_barrier_t barrier;
static volatile int shared;

static void *body(void *number) {
    for (int i = 0; i < 10; i++) {
        pthread_barrier_wait(&barrier);
        shared = (int)(long)number; //~ race
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, body, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

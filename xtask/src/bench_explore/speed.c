// How fast schedules are: three threads with so many accesses each, or one thread with many.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int shared[3];
static int accesses = 10;

static void *body(void *number) {
    long me = (long)number;
    for (int i = 0; i < accesses; i++) {
        atomic_fetch_add_explicit(&shared[(me + i) % 3], 1, memory_order_acq_rel);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 3;
    if (argc > 2)
        accesses = atoi(argv[2]);
    pthread_t ids[3];
    for (long i = 0; i < threads && i < 3; i++)
        if (pthread_create(&ids[i], NULL, body, (void *)i) != 0)
            return 2;
    for (int i = 0; i < threads && i < 3; i++)
        pthread_join(ids[i], NULL);
}

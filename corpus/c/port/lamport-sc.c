// Lamport's fast mutual exclusion as designed for SC, with release and acquire where it hands over (Lamport, A fast mutual exclusion algorithm, TOCS 1987, Algorithm 2).
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define load(x, order) atomic_load_explicit(&x, order)
#define store(x, v, order) atomic_store_explicit(&x, v, order)

enum { THREADS = 2 };
atomic_int x, y, busy[THREADS + 1], inside;

static void *competitor(void *number) {
    int me = *(int *)number;
start:
    store(busy[me], 1, RLX);
    store(x, me, RLX);
    if (load(y, ACQ) != 0) {
        store(busy[me], 0, RLX);
        while (load(y, ACQ) != 0)
            ;
        goto start;
    }
    store(y, me, RLX);
    if (load(x, ACQ) != me) {
        store(busy[me], 0, REL);
        for (int other = 1; other <= THREADS; other++)
            while (load(busy[other], RLX))
                ;
        if (load(y, RLX) != me) {
            while (load(y, ACQ) != 0)
                ;
            goto start;
        }
    }
    store(inside, me, RLX);
    if (load(inside, RLX) != me)
        return number;
    store(y, 0, REL);
    store(busy[me], 0, REL);
    goto start;
}

int main(void) {
    pthread_t ids[THREADS];
    static int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        pthread_create(&ids[i], NULL, competitor, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
}

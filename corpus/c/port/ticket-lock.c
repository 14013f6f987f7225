// Ticket lock (Reed & Kanodia, CACM 1979; Mellor-Crummey & Scott, TOCS 1991).
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define load(x, order) atomic_load_explicit(&x, order)
#define store(x, v, order) atomic_store_explicit(&x, v, order)

atomic_uint next, serving;
atomic_int inside;

static void *first(void *unused) {
    for (;;) {
        unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_acq_rel);
        while (load(serving, ACQ) != mine)
            ;
        store(inside, 1, RLX);
        if (load(inside, RLX) != 1)
            return unused;
        store(serving, mine + 1, REL);
    }
}

static void *second(void *unused) {
    for (;;) {
        unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_acq_rel);
        while (load(serving, ACQ) != mine)
            ;
        store(inside, 2, RLX);
        if (load(inside, RLX) != 2)
            return unused;
        store(serving, mine + 1, REL);
    }
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

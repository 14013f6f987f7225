// Test-and-test-and-set lock (Rudolph & Segall, ISCA 1984).
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define load(x, order) atomic_load_explicit(&x, order)
#define store(x, v, order) atomic_store_explicit(&x, v, order)

atomic_int mutex, inside;

static void *first(void *unused) {
    for (;;) {
        while (atomic_exchange_explicit(&mutex, 1, ACQ))
            while (load(mutex, RLX))
                ;
        store(inside, 1, RLX);
        if (load(inside, RLX) != 1)
            return unused;
        store(mutex, 0, REL);
    }
}

static void *second(void *unused) {
    for (;;) {
        while (atomic_exchange_explicit(&mutex, 1, ACQ))
            while (load(mutex, RLX))
                ;
        store(inside, 2, RLX);
        if (load(inside, RLX) != 2)
            return unused;
        store(mutex, 0, REL);
    }
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

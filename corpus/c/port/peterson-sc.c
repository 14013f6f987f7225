// Peterson's mutual exclusion as designed for SC, every access relaxed (Peterson, Myths about the mutual exclusion problem, IPL 1981).
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define load(x, order) atomic_load_explicit(&x, order)
#define store(x, v, order) atomic_store_explicit(&x, v, order)

atomic_int want_a, want_b, turn, inside;

static void *first(void *unused) {
    for (;;) {
        store(want_a, 1, RLX);
        store(turn, 1, RLX);
        while (load(want_b, RLX) && load(turn, RLX) == 1)
            ;
        store(inside, 1, RLX);
        if (load(inside, RLX) != 1)
            return unused;
        store(want_a, 0, RLX);
    }
}

static void *second(void *unused) {
    for (;;) {
        store(want_b, 1, RLX);
        store(turn, 0, RLX);
        while (load(want_a, RLX) && load(turn, RLX) == 0)
            ;
        store(inside, 2, RLX);
        if (load(inside, RLX) != 2)
            return unused;
        store(want_b, 0, RLX);
    }
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

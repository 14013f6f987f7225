// Two threads wait for one another (Lahav & Margalit, PLDI 2019, BAR).
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire

atomic_int here_left, here_right, passed_left, passed_right;

static void *left(void *unused) {
    atomic_store_explicit(&here_left, 1, RLX);
    while (!atomic_load_explicit(&here_right, ACQ))
        ;
    atomic_store_explicit(&passed_left, 1, RLX);
    return unused;
}

static void *right(void *unused) {
    atomic_store_explicit(&here_right, 1, RLX);
    while (!atomic_load_explicit(&here_left, ACQ))
        ;
    atomic_store_explicit(&passed_right, 1, RLX);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

// Dekker's mutual exclusion with the fences that TSO needs (Dijkstra, EWD 123, Cooperating sequential processes, 1965).
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define SC memory_order_seq_cst
#define load(x, order) atomic_load_explicit(&x, order)
#define store(x, v, order) atomic_store_explicit(&x, v, order)

atomic_int want_a, want_b, turn, inside;

static void *first(void *unused) {
    for (;;) {
    announce:
        store(want_a, 1, RLX);
        atomic_thread_fence(SC);
        while (load(want_b, ACQ)) {
            if (load(turn, RLX) == 1) {
                store(want_a, 0, RLX);
                atomic_thread_fence(SC);
                while (load(turn, ACQ) != 0)
                    ;
                goto announce;
            }
        }
        store(inside, 1, RLX);
        if (load(inside, RLX) != 1)
            return unused;
        store(turn, 1, RLX);
        store(want_a, 0, REL);
    }
}

static void *second(void *unused) {
    for (;;) {
    announce:
        store(want_b, 1, RLX);
        atomic_thread_fence(SC);
        while (load(want_a, ACQ)) {
            if (load(turn, RLX) == 0) {
                store(want_b, 0, RLX);
                atomic_thread_fence(SC);
                while (load(turn, ACQ) != 1)
                    ;
                goto announce;
            }
        }
        store(inside, 2, RLX);
        if (load(inside, RLX) != 2)
            return unused;
        store(turn, 0, RLX);
        store(want_b, 0, REL);
    }
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

// Sequence lock, one writer and one reader of two locations (Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012).
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define load(x, order) atomic_load_explicit(&x, order)
#define store(x, v, order) atomic_store_explicit(&x, v, order)

atomic_uint version;
atomic_int low, high;

static void *writer(void *unused) {
    for (int value = 1;; value++) {
        unsigned v = load(version, RLX);
        store(version, v + 1, RLX);
        atomic_thread_fence(REL);
        store(low, value, RLX);
        store(high, value, RLX);
        store(version, v + 2, REL);
    }
    return unused;
}

static void *reader(void *unused) {
    for (;;) {
        unsigned before = load(version, ACQ);
        if (before % 2 != 0)
            continue;
        int l = load(low, RLX);
        int h = load(high, RLX);
        atomic_thread_fence(ACQ);
        if (load(version, RLX) == before && l != h)
            return unused;
    }
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

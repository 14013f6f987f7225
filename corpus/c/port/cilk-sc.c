// The THE protocol of Cilk-5's work-stealing queue as designed for SC (Frigo, Leiserson, Randall, The implementation of the Cilk-5 multithreaded language, PLDI 1998).
// Its `T--` and `H++` are read-modify-writes, as LLVM made them in [Fency21] §V.
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define load(x, order) atomic_load_explicit(&x, order)
#define store(x, v, order) atomic_store_explicit(&x, v, order)

atomic_int head = 1, tail = 1, mutex;
atomic_int tasks[64];

static void lock(void) {
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&mutex, &expected, 1, ACQ, RLX))
        expected = 0;
}

static void unlock(void) {
    store(mutex, 0, REL);
}

static void push(int task) {
    int t = load(tail, RLX);
    store(tasks[t % 64], task, RLX);
    store(tail, t + 1, REL);
}

static int pop(void) {
    int t = atomic_fetch_sub_explicit(&tail, 1, RLX) - 1;
    if (load(head, RLX) > t) {
        store(tail, t + 1, RLX);
        lock();
        atomic_fetch_sub_explicit(&tail, 1, RLX);
        if (load(head, RLX) > t) {
            store(tail, t + 1, RLX);
            unlock();
            return 0;
        }
        unlock();
    }
    return load(tasks[t % 64], RLX);
}

static int steal(void) {
    lock();
    int h = atomic_fetch_add_explicit(&head, 1, RLX);
    if (h + 1 > load(tail, ACQ)) {
        store(head, h, RLX);
        unlock();
        return 0;
    }
    int task = load(tasks[h % 64], RLX);
    unlock();
    return task;
}

static void *worker(void *unused) {
    for (int task = 1;; task++) {
        push(task);
        if (!pop())
            return unused;
    }
}

static void *thief(void *unused) {
    while (steal() >= 0)
        ;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

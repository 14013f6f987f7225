// User-level RCU: two updaters that also read, and a reader that goes offline and comes back (Desnoyers et al., User-level implementations of read-copy update, TPDS 2012, QSBR).
#include <pthread.h>
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define SC memory_order_seq_cst
#define load(x, order) atomic_load_explicit(&x, order)
#define store(x, v, order) atomic_store_explicit(&x, v, order)

atomic_int mutex, period_now = 1, current, slot[2] = {1, 0}, seen[3];

static int read_current(void) {
    return load(slot[load(current, ACQ)], RLX);
}

static void online(int me) {
    store(seen[me], load(period_now, RLX), RLX);
    atomic_thread_fence(SC);
}

static void lock(void) {
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&mutex, &expected, 1, ACQ, RLX))
        expected = 0;
}

static void unlock(void) {
    store(mutex, 0, REL);
}

static void wait_for(int other, int period) {
    for (;;) {
        int period_seen = load(seen[other], ACQ);
        if (period_seen == 0 || period_seen == period)
            return;
    }
}

static void update(int other) {
    lock();
    int which = load(current, RLX);
    store(slot[!which], 1, RLX);
    store(current, !which, REL);
    int period = load(period_now, RLX) + 1;
    store(period_now, period, RLX);
    atomic_thread_fence(SC);
    wait_for(other, period);
    wait_for(2, period);
    store(slot[which], 0, RLX);
    unlock();
}

static void *updater(void *number) {
    int me = *(int *)number;
    online(me);
    if (read_current() != 1)
        return number;
    store(seen[me], 0, REL);
    update(!me);
    online(me);
    if (read_current() != 1)
        return number;
    store(seen[me], 0, REL);
    return NULL;
}

static void *reader(void *unused) {
    for (;;) {
        online(2);
        if (read_current() != 1)
            return unused;
        store(seen[2], load(period_now, RLX), REL);
        atomic_thread_fence(SC);
        if (read_current() != 1)
            return unused;
        store(seen[2], 0, REL);
    }
}

int main(void) {
    static int numbers[2] = {0, 1};
    pthread_t updaters[2], c;
    for (int i = 0; i < 2; i++)
        pthread_create(&updaters[i], NULL, updater, &numbers[i]);
    pthread_create(&c, NULL, reader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(updaters[i], NULL);
    pthread_join(c, NULL);
}

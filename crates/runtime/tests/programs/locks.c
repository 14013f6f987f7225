// Mutexes of all kinds, spin locks, read-write locks, conditions, semaphores, barriers, one-time initialisation.
// What they protect is plain data: nothing to report, exit code 0.
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000 };

static int shared, reads;

static struct timespec later(clockid_t clock, int seconds) {
    struct timespec now;
    clock_gettime(clock, &now);
    now.tv_sec += seconds;
    return now;
}

static void in_parallel(void *(*routine)(void *)) {
    pthread_t thread[THREADS];
    for (long i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&thread[i], NULL, routine, (void *)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive, robust;

static void *with_mutex(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec until = later(i % 4 == 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC, 100);
        switch (i % 4) {
        case 0: CHECK(pthread_mutex_lock(&mutex) == 0); break;
        case 1: while (pthread_mutex_trylock(&mutex) != 0) sched_yield(); break;
        case 2: CHECK(pthread_mutex_timedlock(&mutex, &until) == 0); break;
        case 3: CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until) == 0); break;
        }
        shared++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

static void *with_recursive(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        shared++;
        pthread_mutex_unlock(&recursive);
        shared++;
        pthread_mutex_unlock(&recursive);
    }
    return NULL;
}

static void *dies(void *argument) {
    (void)argument;
    pthread_mutex_lock(&robust);
    shared = 99;
    return NULL;
}

static void mutexes(void) {
    shared = 0;
    in_parallel(with_mutex);
    CHECK(shared == THREADS * ROUNDS);
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    CHECK(pthread_mutex_init(&recursive, &attr) == 0);
    shared = 0;
    in_parallel(with_recursive);
    CHECK(shared == 2 * THREADS * ROUNDS);
    CHECK(pthread_mutex_destroy(&recursive) == 0);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    CHECK(pthread_mutex_init(&robust, &attr) == 0);
    pthread_t thread;
    pthread_create(&thread, NULL, dies, NULL);
    while (pthread_mutex_trylock(&robust) != EOWNERDEAD) {
        pthread_mutex_unlock(&robust);
        sched_yield();
    }
    CHECK(shared == 99);
    shared = 100;
    CHECK(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
    pthread_join(thread, NULL);
}

static pthread_spinlock_t spin;

static void *with_spin(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2) {
            pthread_spin_lock(&spin);
        } else {
            while (pthread_spin_trylock(&spin) != 0) sched_yield();
        }
        shared++;
        pthread_spin_unlock(&spin);
    }
    return NULL;
}

static void spins(void) {
    CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
    shared = 0;
    in_parallel(with_spin);
    CHECK(shared == THREADS * ROUNDS);
    CHECK(pthread_spin_destroy(&spin) == 0);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *with_rwlock(void *argument) {
    (void)argument;
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec until = later(i % 3 == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, 100);
        if (i % 4 == 0) {
            switch (i % 3) {
            case 0: CHECK(pthread_rwlock_wrlock(&rwlock) == 0); break;
            case 1: CHECK(pthread_rwlock_timedwrlock(&rwlock, &until) == 0); break;
            case 2: CHECK(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until) == 0); break;
            }
            shared++;
        } else {
            switch (i % 3) {
            case 0: CHECK(pthread_rwlock_rdlock(&rwlock) == 0); break;
            case 1: CHECK(pthread_rwlock_timedrdlock(&rwlock, &until) == 0); break;
            case 2: CHECK(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &until) == 0); break;
            }
            sum += shared;
        }
        CHECK(pthread_rwlock_unlock(&rwlock) == 0);
        if (pthread_rwlock_tryrdlock(&rwlock) == 0) {
            sum += shared;
            pthread_rwlock_unlock(&rwlock);
        }
        if (pthread_rwlock_trywrlock(&rwlock) == 0) {
            reads = sum;
            pthread_rwlock_unlock(&rwlock);
        }
    }
    return NULL;
}

static void rwlocks(void) {
    shared = 0;
    in_parallel(with_rwlock);
    CHECK(shared == THREADS * ROUNDS / 4);
    CHECK(pthread_rwlock_destroy(&rwlock) == 0);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int full, item;

static void *consumer(void *argument) {
    (void)argument;
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while (!full) {
            struct timespec until = later(i % 3 == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, 1);
            switch (i % 3) {
            case 0: pthread_cond_wait(&condition, &mutex); break;
            case 1: pthread_cond_timedwait(&condition, &mutex, &until); break;
            case 2: pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until); break;
            }
        }
        sum += item;
        full = 0;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    return (void *)(long)sum;
}

static void *waits_forever(void *argument) {
    (void)argument;
    pthread_mutex_lock(&mutex);
    shared = 1;
    pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &mutex);
    for (;;) pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return NULL;
}

static void conditions(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, consumer, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while (full) pthread_cond_wait(&condition, &mutex);
        item = i;
        full = 1;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    }
    void *sum;
    CHECK(pthread_join(thread, &sum) == 0);
    CHECK((long)sum == (long)ROUNDS * (ROUNDS - 1) / 2);
    // Cancelled while it waits: its handler runs with the mutex.
    shared = 0;
    CHECK(pthread_create(&thread, NULL, waits_forever, NULL) == 0);
    for (int seen = 0; !seen; sched_yield()) {
        pthread_mutex_lock(&mutex);
        seen = shared;
        pthread_mutex_unlock(&mutex);
    }
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &sum) == 0 && sum == PTHREAD_CANCELED);
    pthread_mutex_lock(&mutex);
    shared = 2;
    pthread_mutex_unlock(&mutex);
}

static sem_t filled, emptied;

static void *taker(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec until = later(i % 4 == 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC, 100);
        switch (i % 4) {
        case 0: CHECK(sem_wait(&filled) == 0); break;
        case 1: while (sem_trywait(&filled) != 0) sched_yield(); break;
        case 2: CHECK(sem_timedwait(&filled, &until) == 0); break;
        case 3: CHECK(sem_clockwait(&filled, CLOCK_MONOTONIC, &until) == 0); break;
        }
        CHECK(item == i);
        sem_post(&emptied);
    }
    return NULL;
}

static void semaphores(void) {
    sem_init(&filled, 0, 0);
    sem_init(&emptied, 0, 1);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, taker, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&emptied);
        item = i;
        sem_post(&filled);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    sem_destroy(&filled);
    sem_destroy(&emptied);
}

static pthread_barrier_t barrier;
static int slots[THREADS], serial;

static void *with_barrier(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        slots[me] = i;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial++;
        for (int j = 0; j < THREADS; j++) CHECK(slots[j] == i);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static pthread_barrier_t pair;
static int meetings, tickets;

// More threads than pass at a time: whom one meets is open, that somebody was met is not.
static void *in_pairs(void *argument) {
    (void)argument;
    while (__atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED) < THREADS * ROUNDS) {
        if (pthread_barrier_wait(&pair) == PTHREAD_BARRIER_SERIAL_THREAD) __atomic_fetch_add(&meetings, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void barriers(void) {
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    in_parallel(with_barrier);
    CHECK(serial == ROUNDS);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    CHECK(pthread_barrier_init(&pair, NULL, 2) == 0);
    in_parallel(in_pairs);
    CHECK(meetings == THREADS * ROUNDS / 2);
    CHECK(pthread_barrier_destroy(&pair) == 0);
}

static pthread_once_t once = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static once_flag once11 = ONCE_FLAG_INIT;
static int made, made_inside, made11;

static void make_inside(void) { made_inside++; }
static void make(void) {
    pthread_once(&inner, make_inside);
    made += 1 + made_inside;
}
static void make11(void) { made11++; }

static void *with_once(void *argument) {
    (void)argument;
    for (int i = 0; i < 100; i++) {
        CHECK(pthread_once(&once, make) == 0);
        CHECK(made == 2 && made_inside == 1);
        call_once(&once11, make11);
        CHECK(made11 == 1);
    }
    return NULL;
}

static mtx_t mtx;
static cnd_t cnd;

static void *with_mtx(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec until = later(CLOCK_REALTIME, 100);
        switch (i % 3) {
        case 0: CHECK(mtx_lock(&mtx) == thrd_success); break;
        case 1: while (mtx_trylock(&mtx) != thrd_success) sched_yield(); break;
        case 2: CHECK(mtx_timedlock(&mtx, &until) == thrd_success); break;
        }
        shared++;
        CHECK(mtx_unlock(&mtx) == thrd_success);
    }
    mtx_lock(&mtx);
    reads++;
    cnd_broadcast(&cnd);
    while (reads < THREADS) {
        struct timespec until = later(CLOCK_REALTIME, 1);
        if (reads % 2) cnd_wait(&cnd, &mtx); else cnd_timedwait(&cnd, &mtx, &until);
    }
    mtx_unlock(&mtx);
    return NULL;
}

static void c11(void) {
    CHECK(mtx_init(&mtx, mtx_timed) == thrd_success && cnd_init(&cnd) == thrd_success);
    shared = reads = 0;
    in_parallel(with_mtx);
    CHECK(shared == THREADS * ROUNDS && reads == THREADS);
    mtx_destroy(&mtx);
    cnd_destroy(&cnd);
}

int main(void) {
    mutexes();
    spins();
    rwlocks();
    conditions();
    semaphores();
    barriers();
    in_parallel(with_once);
    c11();
    puts("locks: ok");
    return 0;
}

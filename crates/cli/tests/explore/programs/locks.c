// Every kind of lock that libc has, in every schedule: each protects a counter.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static mtx_t mutex11;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised;

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += 5;
    return time;
}

static void init(void) {
    sched_yield();
    initialised++;
    counter = 2;
}

static void lock(const char *kind) {
    struct timespec date = soon(CLOCK_REALTIME), uptime = soon(CLOCK_MONOTONIC);
    if (!strcmp(kind, "mutex")) assert(!pthread_mutex_lock(&mutex));
    if (!strcmp(kind, "recursive")) assert(!pthread_mutex_lock(&mutex) && !pthread_mutex_lock(&mutex));
    if (!strcmp(kind, "errorcheck")) assert(!pthread_mutex_lock(&mutex) && pthread_mutex_lock(&mutex) == EDEADLK);
    if (!strcmp(kind, "robust")) assert(!pthread_mutex_lock(&mutex));
    if (!strcmp(kind, "inherit")) assert(!pthread_mutex_lock(&mutex));
    if (!strcmp(kind, "try")) while (pthread_mutex_trylock(&mutex) == EBUSY) sched_yield();
    if (!strcmp(kind, "timed")) while (pthread_mutex_timedlock(&mutex, &date) == ETIMEDOUT) date.tv_sec += 5;
    if (!strcmp(kind, "clock"))
        while (pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &uptime) == ETIMEDOUT) uptime.tv_sec += 5;
    if (!strcmp(kind, "mtx")) assert(mtx_lock(&mutex11) == thrd_success);
    if (!strcmp(kind, "mtx-try")) while (mtx_trylock(&mutex11) == thrd_busy) thrd_yield();
    if (!strcmp(kind, "mtx-timed")) while (mtx_timedlock(&mutex11, &date) == thrd_timedout) date.tv_sec += 5;
    if (!strcmp(kind, "write")) assert(!pthread_rwlock_wrlock(&rwlock));
    if (!strcmp(kind, "write-try")) while (pthread_rwlock_trywrlock(&rwlock) == EBUSY) sched_yield();
    if (!strcmp(kind, "write-timed")) while (pthread_rwlock_timedwrlock(&rwlock, &date) == ETIMEDOUT) date.tv_sec += 5;
    if (!strcmp(kind, "write-clock"))
        while (pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &uptime) == ETIMEDOUT) uptime.tv_sec += 5;
    if (!strcmp(kind, "spin")) assert(!pthread_spin_lock(&spin));
    if (!strcmp(kind, "spin-try")) while (pthread_spin_trylock(&spin) == EBUSY) sched_yield();
    if (!strcmp(kind, "semaphore")) assert(!sem_wait(&semaphore));
    if (!strcmp(kind, "semaphore-try")) while (sem_trywait(&semaphore)) sched_yield();
    if (!strcmp(kind, "semaphore-timed")) while (sem_timedwait(&semaphore, &date)) date.tv_sec += 5;
    if (!strcmp(kind, "semaphore-clock")) while (sem_clockwait(&semaphore, CLOCK_MONOTONIC, &uptime)) uptime.tv_sec += 5;
}

static void unlock(const char *kind) {
    if (!strcmp(kind, "recursive")) assert(!pthread_mutex_unlock(&mutex));
    if (!strncmp(kind, "mtx", 3)) assert(mtx_unlock(&mutex11) == thrd_success);
    else if (!strncmp(kind, "write", 5)) assert(!pthread_rwlock_unlock(&rwlock));
    else if (!strncmp(kind, "spin", 4)) assert(!pthread_spin_unlock(&spin));
    else if (!strncmp(kind, "semaphore", 9)) assert(!sem_post(&semaphore));
    else assert(!pthread_mutex_unlock(&mutex));
}

static void *worker(void *argument) {
    const char *kind = argument;
    if (!strcmp(kind, "barrier")) {
        static int before[2], after;
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        for (int round = 0; round < 2; round++) {
            pthread_mutex_lock(&lock);
            before[round]++;
            pthread_mutex_unlock(&lock);
            int last = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
            assert(before[round] == 2);
            pthread_mutex_lock(&lock);
            after += last;
            counter = after;
            pthread_mutex_unlock(&lock);
        }
    } else if (!strcmp(kind, "once")) {
        pthread_once(&once, init);
        assert(initialised == 1);
    } else if (!strcmp(kind, "owner-dies")) {
        int result = pthread_mutex_lock(&mutex);
        assert(result == (counter ? EOWNERDEAD : 0));
        counter++;
        if (result) pthread_mutex_consistent(&mutex);
    } else if (!strcmp(kind, "read")) {
        pthread_rwlock_rdlock(&rwlock);
        int seen = counter;
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_wrlock(&rwlock);
        counter++;
        assert(counter > seen);
        pthread_rwlock_unlock(&rwlock);
    } else {
        lock(kind);
        counter++;
        unlock(kind);
    }
    return NULL;
}

int main(int count, char **arguments) {
    char *kind = count > 1 ? arguments[1] : "mutex";
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    if (!strcmp(kind, "recursive")) pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    if (!strcmp(kind, "errorcheck")) pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    if (!strcmp(kind, "robust") || !strcmp(kind, "owner-dies")) pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    if (!strcmp(kind, "inherit")) pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &attr);
    mtx_init(&mutex11, mtx_timed);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 1);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, kind);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(counter == 2);
}

// Condition variables: a queue of one place, two consumers, one producer. With "lost", the producer signals without
// having changed anything under the mutex, and a consumer may wait for ever; with "if", a consumer doesn't look again.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static mtx_t mutex11;
static cnd_t changed11;
static int items, taken;
static atomic_int ready;
static const char *kind = "signal";

static void *consumer(void *unused) {
    (void)unused;
    if (!strcmp(kind, "c11")) {
        mtx_lock(&mutex11);
        while (!items) cnd_wait(&changed11, &mutex11);
        items--, taken++;
        mtx_unlock(&mutex11);
        return NULL;
    }
    pthread_mutex_lock(&mutex);
    if (!strcmp(kind, "if")) {
        if (!items) pthread_cond_wait(&changed, &mutex);
    } else if (!strcmp(kind, "timed")) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        while (!items)
            if (pthread_cond_timedwait(&changed, &mutex, &until) == ETIMEDOUT) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                assert(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
                pthread_mutex_unlock(&mutex);
                return NULL;
            }
    } else {
        while (!items) pthread_cond_wait(&changed, &mutex);
    }
    items--, taken++;
    assert(items >= 0);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *waiter(void *unused) {
    (void)unused;
    if (!ready) { // looks without the mutex: the signal may come right here
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void produce(void) {
    if (!strcmp(kind, "c11")) {
        mtx_lock(&mutex11);
        items++;
        cnd_signal(&changed11);
        mtx_unlock(&mutex11);
        return;
    }
    pthread_mutex_lock(&mutex);
    items++;
    if (!strcmp(kind, "broadcast") || !strcmp(kind, "if")) pthread_cond_broadcast(&changed);
    else pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

int main(int count, char **arguments) {
    if (count > 1) kind = arguments[1];
    mtx_init(&mutex11, mtx_plain);
    cnd_init(&changed11);
    pthread_t threads[2];
    if (!strcmp(kind, "lost")) {
        pthread_create(&threads[0], NULL, waiter, NULL);
        ready = 1;
        pthread_cond_signal(&changed);
        pthread_join(threads[0], NULL);
        return 0;
    }
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, consumer, NULL);
    produce();
    produce();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(taken + items == 2);
    pthread_cond_destroy(&changed);
}

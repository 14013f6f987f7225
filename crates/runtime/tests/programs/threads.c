// Threads of all sorts: joined, detached, ended early, cancelled, made by other threads; C11's.
// Plain data goes along with creation and join: nothing to report, exit code 0.
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int data[64];

static void *add_one(void *argument) {
    int *cell = argument;
    *cell += 1;
    return cell;
}

static void create_and_join(void) {
    pthread_t thread[32];
    for (int i = 0; i < 32; i++) {
        data[i] = i;
        CHECK(pthread_create(&thread[i], NULL, add_one, &data[i]) == 0);
    }
    for (int i = 0; i < 32; i++) {
        void *result;
        CHECK(pthread_join(thread[i], &result) == 0);
        CHECK(result == &data[i] && data[i] == i + 1);
        data[i] = 0;
    }
}

static void *nested(void *argument) {
    intptr_t depth = (intptr_t)argument;
    if (depth > 0) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, nested, (void *)(depth - 1)) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    data[depth] = (int)depth;
    return NULL;
}

static void *early(void *argument) {
    *(int *)argument = 7;
    pthread_exit(argument);
}

static void *forever(void *argument) {
    *(int *)argument = 8;
    for (;;) {
        pause();
    }
}

static void cleaned(void *argument) { *(int *)argument += 1; }

static void *with_cleanup(void *argument) {
    pthread_cleanup_push(cleaned, argument);
    *(int *)argument = 40;
    sem_t never;
    sem_init(&never, 0, 0);
    sem_wait(&never);
    pthread_cleanup_pop(0);
    return NULL;
}

static void ends(void) {
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, early, &data[0]) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == &data[0] && data[0] == 7);
    CHECK(pthread_create(&thread, NULL, forever, &data[0]) == 0);
    usleep(1000);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(pthread_create(&thread, NULL, with_cleanup, &data[1]) == 0);
    usleep(1000);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    data[1] += 1;
}

static pthread_key_t key;
static int destroyed;

// Asks to be called again, as long as there are rounds: what it does must still count as the thread's.
static void destroy(void *value) {
    destroyed++;
    if ((intptr_t)value > 1) {
        pthread_setspecific(key, (void *)((intptr_t)value - 1));
    }
}

static void *with_key(void *argument) {
    pthread_setspecific(key, argument);
    return NULL;
}

static void destructors(void) {
    CHECK(pthread_key_create(&key, destroy) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, with_key, (void *)3) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(destroyed == 3);
    destroyed = 0;
}

static sem_t done;

static void *detached(void *argument) {
    *(int *)argument += 1;
    sem_post(&done);
    return NULL;
}

static void detach(void) {
    sem_init(&done, 0, 0);
    pthread_attr_t attr;
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        if (i % 2) {
            CHECK(pthread_create(&thread, NULL, detached, &data[i % 8]) == 0);
            CHECK(pthread_detach(thread) == 0);
        } else {
            CHECK(pthread_create(&thread, &attr, detached, &data[i % 8]) == 0);
        }
        sem_wait(&done);
        data[i % 8] = 0;
    }
    CHECK(pthread_attr_destroy(&attr) == 0);
}

static void small_stack(void) {
    pthread_attr_t attr;
    size_t size;
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, &attr, add_one, &data[5]) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_getstacksize(&attr, &size) == 0 && size == (size_t)PTHREAD_STACK_MIN);
    CHECK(pthread_attr_destroy(&attr) == 0);
}

static void *sleepy(void *argument) {
    usleep(20000);
    return add_one(argument);
}

static void other_joins(void) {
    pthread_t thread;
    data[3] = 0;
    CHECK(pthread_create(&thread, NULL, sleepy, &data[3]) == 0);
    CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    CHECK(pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
    until.tv_sec += 10;
    CHECK(pthread_timedjoin_np(thread, NULL, &until) == 0);
    CHECK(data[3] == 1);
    CHECK(pthread_create(&thread, NULL, add_one, &data[3]) == 0);
    while (pthread_tryjoin_np(thread, NULL) != 0) {
        sched_yield();
    }
    CHECK(data[3] == 2);
}

static int add_two(void *argument) {
    *(int *)argument += 2;
    return 5;
}

static int exits(void *argument) {
    *(int *)argument += 1;
    thrd_exit(6);
}

static void c11(void) {
    thrd_t thread;
    int result;
    data[4] = 0;
    CHECK(thrd_create(&thread, add_two, &data[4]) == thrd_success);
    CHECK(thrd_join(thread, &result) == thrd_success && result == 5 && data[4] == 2);
    CHECK(thrd_create(&thread, exits, &data[4]) == thrd_success);
    CHECK(thrd_join(thread, &result) == thrd_success && result == 6 && data[4] == 3);
    CHECK(thrd_create(&thread, add_two, &data[6]) == thrd_success);
    CHECK(thrd_detach(thread) == thrd_success);
}

int main(void) {
    create_and_join();
    nested((void *)20);
    ends();
    destructors();
    detach();
    small_stack();
    other_joins();
    c11();
    puts("threads: ok");
    return 0;
}

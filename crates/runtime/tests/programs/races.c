// One race for each argument: what is named isn't synchronised here, although something near it is.
// Each prints exactly one race ("free": memory is freed while in use) and exits with code 66; "none" exits with 0.
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static int shared, flag;
static char *text;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;

// Comes after the other thread's step without being ordered after it: the flag is relaxed.
static void step(void) { __atomic_fetch_add(&flag, 1, __ATOMIC_RELAXED); }
static void after_step(int count) {
    while (__atomic_load_n(&flag, __ATOMIC_RELAXED) < count) usleep(100);
}

static void *writes(void *argument) {
    (void)argument;
    shared = 1;
    step();
    return NULL;
}

static void *writes_text(void *argument) {
    (void)argument;
    text[3] = 'x';
    step();
    return NULL;
}

static void *writes_as_reader(void *argument) {
    (void)argument;
    pthread_rwlock_rdlock(&rwlock);
    shared = 1;
    pthread_rwlock_unlock(&rwlock);
    step();
    return NULL;
}

// Leaves the first phase fast and writes before the second; the other one is still about to leave the first.
static void *fast(void *argument) {
    (void)argument;
    pthread_barrier_wait(&barrier);
    shared = 1;
    step();
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void *frees(void *argument) {
    (void)argument;
    after_step(1);
    free(text);
    return NULL;
}

static void *ends(void *argument) {
    (void)argument;
    shared = 1;
    return NULL;
}

static void finish(pthread_t thread) {
    // Not joined before the access that races: joining would order it.
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "none";
    pthread_t thread;
    text = calloc(1, 64);
    if (!strcmp(what, "plain")) {
        pthread_create(&thread, NULL, writes, NULL);
        after_step(1);
        CHECK(shared == 1);
        finish(thread);
    } else if (!strcmp(what, "memcpy")) {
        char copy[64];
        pthread_create(&thread, NULL, writes_text, NULL);
        after_step(1);
        memcpy(copy, text, sizeof copy);
        CHECK(copy[3] == 'x');
        finish(thread);
    } else if (!strcmp(what, "memset")) {
        pthread_create(&thread, NULL, writes_text, NULL);
        after_step(1);
        volatile size_t size = 64; // not inlined
        memset(text, 0, size);
        finish(thread);
    } else if (!strcmp(what, "strlen")) {
        pthread_create(&thread, NULL, writes_text, NULL);
        after_step(1);
        text[0] = text[1] = text[2] = 'a';
        CHECK(strlen(text) == 4);
        finish(thread);
    } else if (!strcmp(what, "readers")) {
        pthread_create(&thread, NULL, writes_as_reader, NULL);
        after_step(1);
        pthread_rwlock_rdlock(&rwlock);
        CHECK(shared == 1);
        pthread_rwlock_unlock(&rwlock);
        finish(thread);
    } else if (!strcmp(what, "barrier")) {
        pthread_barrier_init(&barrier, NULL, 2);
        pthread_create(&thread, NULL, fast, NULL);
        pthread_barrier_wait(&barrier);
        after_step(1);
        CHECK(shared == 1);
        pthread_barrier_wait(&barrier);
        finish(thread);
    } else if (!strcmp(what, "free")) {
        pthread_create(&thread, NULL, frees, NULL);
        text[5] = 'y';
        step();
        finish(thread);
    } else if (!strcmp(what, "detached")) {
        pthread_create(&thread, NULL, ends, NULL);
        pthread_detach(thread);
        usleep(100000);
        CHECK(shared == 1);
    } else {
        pthread_create(&thread, NULL, writes, NULL);
        pthread_join(thread, NULL);
        CHECK(shared == 1);
    }
    return 0;
}

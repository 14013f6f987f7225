// Thousands of short-lived threads, joined and detached, some alive at the same time: no leak, nothing to report.
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { ALL = 5000, AT_ONCE = 20 };

static atomic_int ran;
static sem_t done;
static _Thread_local int local[100];

static void *short_life(void *argument) {
    volatile char room[20000];
    memset((char *)room, 1, sizeof room);
    CHECK(local[50] == 0);
    local[50] = 1;
    *(int *)argument += room[77];
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return NULL;
}

static void *detached_life(void *argument) {
    short_life(argument);
    sem_post(&done);
    return NULL;
}

static long pages(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0, resident = 0;
    CHECK(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
    fclose(file);
    return resident;
}

static void round_of(int count) {
    static int cells[AT_ONCE];
    pthread_t thread[AT_ONCE];
    memset(cells, 0, sizeof cells);
    for (int i = 0; i < count; i += AT_ONCE) {
        for (int j = 0; j < AT_ONCE; j++) {
            void *(*life)(void *) = j % 2 ? detached_life : short_life;
            CHECK(pthread_create(&thread[j], NULL, life, &cells[j]) == 0);
            if (j % 2) CHECK(pthread_detach(thread[j]) == 0);
        }
        for (int j = 0; j < AT_ONCE; j++) {
            if (j % 2) sem_wait(&done); else CHECK(pthread_join(thread[j], NULL) == 0);
        }
        for (int j = 0; j < AT_ONCE; j++) CHECK(cells[j] == i / AT_ONCE + 1);
    }
}

int main(void) {
    sem_init(&done, 0, 0);
    round_of(ALL / 5);
    long before = pages();
    for (int i = 0; i < 4; i++) round_of(ALL / 5);
    long after = pages();
    CHECK(ran == ALL);
    // 4,000 threads more: less than 16 MiB more.
    if (after - before > 4096) {
        fprintf(stderr, "resident pages: %ld, then %ld\n", before, after);
        return 1;
    }
    puts("many: ok");
    return 0;
}

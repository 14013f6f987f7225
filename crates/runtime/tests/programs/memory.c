// Memory that changes hands through the allocator, the kernel and the stacks of dead threads: each time a new life, so
// there is nothing to report although nothing orders the accesses. Also: too much is asked for.
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_int turn;

// Takes turns without ordering anything.
static void await(int mine) {
    while (atomic_load_explicit(&turn, memory_order_relaxed) % 2 != mine) sched_yield();
}
static void next(void) { atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed); }

static void *by_malloc(void *argument) {
    int mine = argument != NULL;
    for (int i = 0; i < 300; i++) {
        await(mine);
        size_t size = (size_t)(i % 50) * 40 + 8;
        char *block = i % 3 ? malloc(size) : calloc(1, size);
        memset(block, i, size);
        block[size / 2] = 1;
        atomic_store_explicit((atomic_int *)block, i, memory_order_relaxed);
        if (i % 2) block = realloc(block, size * 3);
        CHECK(*(int *)block == i);
        free(block);
        next();
    }
    return NULL;
}

static void *by_mmap(void *argument) {
    int mine = argument != NULL;
    for (int i = 0; i < 200; i++) {
        await(mine);
        char *map = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(map != MAP_FAILED);
        map[5] = 1;
        map[60000] = 2;
        map = mremap(map, 1 << 16, 1 << 18, MREMAP_MAYMOVE);
        CHECK(map != MAP_FAILED && map[5] == 1 && map[60000] == 2);
        map[200000] = 3;
        CHECK(munmap(map, 1 << 18) == 0);
        next();
    }
    return NULL;
}

static void *by_large_malloc(void *argument) {
    int mine = argument != NULL;
    for (int i = 0; i < 20; i++) {
        await(mine);
        char *block = malloc(1 << 20);
        memset(block, i, 1 << 20);
        free(block);
        next();
    }
    return NULL;
}

static void in_turns(void *(*routine)(void *)) {
    pthread_t thread[2];
    atomic_store(&turn, 0);
    pthread_create(&thread[0], NULL, routine, NULL);
    pthread_create(&thread[1], NULL, routine, &turn);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}

static void *uses_stack(void *argument) {
    volatile char room[100000];
    for (size_t i = 0; i < sizeof room; i += 64) room[i] = (char)(intptr_t)argument;
    atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);
    return NULL;
}

// Detached threads that follow one another on the same stack, and then other things in its place.
static void stacks(void) {
    atomic_store(&turn, 0);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, &attr, uses_stack, (void *)(intptr_t)i) == 0);
        while (atomic_load_explicit(&turn, memory_order_relaxed) <= i) sched_yield();
        if (i % 10 == 0) {
            usleep(1000);
            char *map = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            for (size_t at = 0; at < 8 << 20; at += 4096) map[at] = 1;
            munmap(map, 8 << 20);
        }
    }
}

static void too_much(void) {
    volatile size_t much = PTRDIFF_MAX;
    void *volatile got = malloc(much); // seen by nobody, clang would leave it out
    CHECK(got == NULL && errno == ENOMEM);
    char *block = malloc(100);
    block[99] = 7;
    CHECK(realloc(block, much) == NULL && block[99] == 7);
    free(block);
    CHECK(mmap(NULL, (size_t)1 << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    free(NULL);
    void *aligned;
    CHECK(posix_memalign(&aligned, 4096, 10000) == 0 && (uintptr_t)aligned % 4096 == 0);
    memset(aligned, 1, 10000);
    free(aligned);
    aligned = aligned_alloc(64, 640);
    CHECK(aligned && malloc_usable_size(aligned) >= 640);
    free(aligned);
    block = strdup("text");
    CHECK(!strcmp(block, "text"));
    free(block);
}

// Who sees the last access of another thread may do with the memory what it likes, at once.
enum { HANDS = 64, ROUNDS = 100000 };
static struct {
    atomic_int full;
} hands[HANDS];
static atomic_int round_now;

static void *fills(void *argument) {
    for (int i = 1; i <= ROUNDS; i++) {
        while (atomic_load_explicit(&round_now, memory_order_acquire) != i) sched_yield();
        atomic_store_explicit(&hands[i % HANDS].full, 1, memory_order_release);
    }
    return argument;
}

static void hand_over(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, fills, NULL) == 0);
    for (int i = 1; i <= ROUNDS; i++) {
        atomic_store_explicit(&round_now, i, memory_order_release);
        while (!atomic_load_explicit(&hands[i % HANDS].full, memory_order_acquire)) {
        }
        *(volatile int *)&hands[i % HANDS].full = 0;
    }
    pthread_join(thread, NULL);
}

// A plain write is the beginning of a life although there was just such a write before: the value 7 is never to be
// read by the compare-and-swap, since it was read by the addition, and the value 5 is of another life.
static atomic_int lives, added;

static void *adds(void *argument) {
    atomic_fetch_add_explicit(&lives, 2, memory_order_relaxed);
    atomic_store_explicit(&added, 1, memory_order_relaxed);
    return argument;
}

static void two_lives(void) {
    *(volatile int *)&lives = 1;
    atomic_store_explicit(&lives, 5, memory_order_relaxed);
    *(volatile int *)&lives = 7;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, adds, NULL) == 0);
    while (!atomic_load_explicit(&added, memory_order_relaxed)) sched_yield();
    int expected = 7;
    CHECK(!atomic_compare_exchange_strong_explicit(&lives, &expected, 100, memory_order_relaxed,
                                                   memory_order_relaxed));
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) {
        // All that is left is soon used up. The program is told, or the runtime says that it can't go on (72).
        struct rlimit limit = {(size_t)1 << 32, (size_t)1 << 32};
        setrlimit(RLIMIT_DATA, &limit);
        for (;;) {
            volatile char *block = malloc(1 << 20);
            if (!block) break;
            for (size_t i = 0; i < 1 << 20; i += 8) block[i] = 1;
        }
        puts("memory: used up");
        return 0;
    }
    in_turns(by_malloc);
    in_turns(by_mmap);
    in_turns(by_large_malloc);
    stacks();
    hand_over();
    two_lives();
    too_much();
    puts("memory: ok");
    return 0;
}

// The threads of a corpus program: all start each round together and end it together, so that rounds are apart from one another.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    // Two of them: in ThreadSanitizer, who leaves a barrier late knows what others did before they came to it again.
    pthread_barrier_t start, end;
    int threads, rounds;
    void (*body)(int role);
    void (*reset)(void);
    unsigned seed;
} crew;

// What each thread draws from, in every run anew.
static _Thread_local unsigned random_state;

// Takes a while, so that threads meet in many ways and do not run one after the other in the order in which they are woken.
static inline void dawdle(void) {
    random_state = random_state * 1664525 + 1013904223;
    for (unsigned left = random_state >> 16; left > 0; left--)
        __asm__ volatile("");
    if (random_state >> 8 & 1)
        sched_yield();
}

static inline void *crew_member(void *number) {
    int me = (int)(long)number;
    random_state = crew.seed + 977 * me;
    for (int round = 0; round < crew.rounds; round++) {
        pthread_barrier_wait(&crew.start);
        dawdle();
        // Roles go round: none of them is always the first to be woken.
        crew.body((me + round) % crew.threads);
        pthread_barrier_wait(&crew.end);
        if (me == 0 && crew.reset)
            crew.reset();
    }
    return NULL;
}

// Runs `body(role)` in as many threads as there are roles, round after round; `reset` comes between rounds.
static inline void run(int threads, int rounds, void (*body)(int role), void (*reset)(void)) {
    pthread_t ids[threads];
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    crew.seed = now.tv_nsec;
    crew.threads = threads, crew.rounds = rounds, crew.body = body, crew.reset = reset;
    pthread_barrier_init(&crew.start, NULL, threads);
    pthread_barrier_init(&crew.end, NULL, threads);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, crew_member, (void *)i) != 0)
            exit(2);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&crew.start);
    pthread_barrier_destroy(&crew.end);
}

// Ends the program with code 3 if what must hold under SC does not.
static inline void must(int holds) {
    if (!holds) {
        fprintf(stderr, "wrong result\n");
        _Exit(3);
    }
}

// The threads of a small program: each runs once, and the first of them is `main`. Nothing depends on time or chance: the schedule is
// all that tells two runs apart.
#pragma once

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST = 8 };
static void (*body_of_all)(int me);

static inline void *member(void *number) {
    body_of_all((int)(long)number);
    return NULL;
}

// Runs `body(me)` in so many threads, at most MOST.
static inline void together(int threads, void (*body)(int me)) {
    pthread_t ids[MOST];
    body_of_all = body;
    for (long me = 1; me < threads; me++)
        if (pthread_create(&ids[me], NULL, member, (void *)me) != 0)
            exit(2);
    body(0);
    for (int me = 1; me < threads; me++)
        pthread_join(ids[me], NULL);
}

// The program's argument, a number, at least and at most so much.
static inline int argument(int argc, char **argv, int otherwise, int least, int most) {
    int given = argc > 1 ? atoi(argv[1]) : otherwise;
    if (given < least || given > most)
        exit(2);
    return given;
}

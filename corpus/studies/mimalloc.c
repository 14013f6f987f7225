// Stress for mimalloc, with the workload of its own stress test: threads allocate objects of many sizes, keep some, free some, and swap
// some with one another, so that most memory is freed by another thread than the one that allocated it. New threads in every iteration.
//
// usage: mimalloc [THREADS [LOAD-PER-CENT [ITERATIONS]]]

#include <mimalloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1000, COOKIE = 0x5ec5 };
static _Atomic(void *) transfer[SLOTS];
static long load = 25;

static uint64_t draw(uint64_t *random) {
    *random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
    return *random;
}

// The first word of an object says how many words it has, the others say which they are.
static uintptr_t *make(uint64_t *random) {
    size_t words = 1 + draw(random) % 8;
    if (draw(random) % 100 < 1)
        words *= 1000; // Now and then a large one.
    else if (draw(random) % 100 < 10)
        words *= 50;
    uintptr_t *object = mi_zalloc(words * sizeof *object);
    if (!object)
        exit(2);
    object[0] = words ^ COOKIE;
    for (size_t i = 1; i < words; i++)
        object[i] = (words - i) ^ COOKIE;
    return object;
}

static void drop(uintptr_t *object) {
    if (!object)
        return;
    size_t words = object[0] ^ COOKIE;
    for (size_t i = 1; i < words; i++)
        if (object[i] != ((words - i) ^ COOKIE)) {
            fprintf(stderr, "memory was overwritten\n");
            _Exit(3);
        }
    mi_free(object);
}

static void *body(void *number) {
    uint64_t random = ((uintptr_t)number + 1) * 0x9e3779b97f4a7c15u;
    // In the original each thread allocates about 100 objects for each per cent of load.
    long objects = 4 * load * (1 + (long)number % 4);
    uintptr_t **kept = mi_calloc(objects, sizeof *kept);
    long retained = objects / 2;
    uintptr_t **retain = mi_calloc(retained, sizeof *retain);
    if (!kept || !retain)
        exit(2);
    for (long made = 0, i = 0, r = 0; made < objects || r < retained;) {
        if (r < retained && draw(&random) % 2)
            retain[r++] = make(&random);
        else if (made < objects)
            made++, kept[i++ % objects] = make(&random);
        if (draw(&random) % 3 == 0 && i > 0) {
            long at = draw(&random) % i % objects;
            drop(kept[at]);
            kept[at] = NULL;
        }
        if (draw(&random) % 4 == 0 && i > 0) {
            long at = draw(&random) % i % objects;
            kept[at] = atomic_exchange_explicit(&transfer[draw(&random) % SLOTS], kept[at], memory_order_acq_rel);
        }
    }
    for (long i = 0; i < retained; i++)
        drop(retain[i]);
    for (long i = 0; i < objects; i++)
        drop(kept[i]);
    mi_free(retain);
    mi_free(kept);
    return NULL;
}

int main(int argc, char **argv) {
    long threads = argc > 1 ? atol(argv[1]) : 25;
    long iterations = argc > 3 ? atol(argv[3]) : 10;
    load = argc > 2 ? atol(argv[2]) : 25;
    for (long n = 0; n < iterations; n++) {
        pthread_t crew[threads];
        for (long i = 0; i < threads; i++)
            if (pthread_create(&crew[i], NULL, body, (void *)(n * threads + i)) != 0)
                return 2;
        for (long i = 0; i < threads; i++)
            pthread_join(crew[i], NULL);
        // Half of what is in transit goes on to the next iteration.
        for (int i = 0; i < SLOTS; i++)
            if (i % 2 || n == iterations - 1)
                drop(atomic_exchange_explicit(&transfer[i], NULL, memory_order_acq_rel));
    }
    mi_collect(1);
}

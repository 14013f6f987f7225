// A program whose shape is given by its arguments, `name=number` each: what sanitizers are measured on. Threads draw what to do next:
// loads, stores, updates and fences of given strength on an array of atomics, and between two of them some work on data that is not
// atomic and that is private or under a lock.

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *name;
    long value;
} shape[] = {
    {"threads", 2},
    {"locations", 10},
    {"accesses", 100000}, // Atomic ones, fences included, of all threads together.
    {"fences", 0},        // Per cent of these.
    {"updates", 10},      // Per cent of the rest.
    {"stores", 30},       // Per cent of the rest of the rest; what remains are loads.
    {"relaxed", 30},      // Per cent of accesses and fences; of fences they are release or acquire.
    {"ordered", 60},      // Release, acquire, or both; what remains is sequentially consistent.
    {"own", 0},           // Per cent of accesses that go to the thread's own part of the array.
    {"plain", 4},         // Plain accesses for each atomic one.
    {"seed", 1},
};
enum { THREADS, LOCATIONS, ACCESSES, FENCES, UPDATES, STORES, RELAXED, ORDERED, OWN, PLAIN, SEED, NUMBERS };

enum { LOCKS = 16, GUARDED = 8, PRIVATE = 512 };
static struct {
    pthread_mutex_t lock;
    long data[GUARDED];
} guarded[LOCKS];
static atomic_ulong *at;
static pthread_barrier_t start;

static inline uint64_t draw(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static void *body(void *number) {
    uint64_t state = (shape[SEED].value * 1000 + (long)number + 1) * 0x9e3779b97f4a7c15u;
    const long threads = shape[THREADS].value, locations = shape[LOCATIONS].value;
    const long steps = shape[ACCESSES].value / threads;
    const unsigned fences = shape[FENCES].value, updates = shape[UPDATES].value, stores = shape[STORES].value;
    const unsigned relaxed = shape[RELAXED].value, ordered = relaxed + shape[ORDERED].value;
    const unsigned own = shape[OWN].value;
    const long part = locations / threads > 0 ? locations / threads : 1;
    const long plain = shape[PLAIN].value;
    long *mine = calloc(PRIVATE, sizeof *mine);
    unsigned cursor = 0;
    if (!mine)
        exit(2);
    pthread_barrier_wait(&start);
    for (long step = 0; step < steps; step++) {
        uint64_t drawn = draw(&state);
        unsigned kind = drawn % 100, second = (drawn >> 8) % 100, order = (drawn >> 16) % 100;
        unsigned place = drawn >> 32;
        long i = (drawn >> 24) % 100 < own ? ((long)number * part + place % part) % locations : place % locations;
        if (kind < fences) {
            if (order < ordered && order % 2)
                atomic_thread_fence(memory_order_release);
            else if (order < ordered)
                atomic_thread_fence(memory_order_acquire);
            else
                atomic_thread_fence(memory_order_seq_cst);
        } else if (second < updates) {
            if (order < relaxed)
                atomic_fetch_add_explicit(&at[i], 1, memory_order_relaxed);
            else if (order < ordered)
                atomic_fetch_add_explicit(&at[i], 1, memory_order_acq_rel);
            else
                atomic_fetch_add_explicit(&at[i], 1, memory_order_seq_cst);
        } else if ((drawn >> 20) % 100 < stores) {
            if (order < relaxed)
                atomic_store_explicit(&at[i], drawn, memory_order_relaxed);
            else if (order < ordered)
                atomic_store_explicit(&at[i], drawn, memory_order_release);
            else
                atomic_store_explicit(&at[i], drawn, memory_order_seq_cst);
        } else {
            if (order < relaxed)
                cursor += atomic_load_explicit(&at[i], memory_order_relaxed) & 1;
            else if (order < ordered)
                cursor += atomic_load_explicit(&at[i], memory_order_acquire) & 1;
            else
                cursor += atomic_load_explicit(&at[i], memory_order_seq_cst) & 1;
        }
        for (long left = plain; left > 0; left -= 2)
            mine[cursor++ % PRIVATE] += left;
        if (plain > 0 && place % 64 == 0) {
            unsigned k = place / 64 % LOCKS;
            pthread_mutex_lock(&guarded[k].lock);
            for (int j = 0; j < GUARDED; j++)
                guarded[k].data[j]++;
            pthread_mutex_unlock(&guarded[k].lock);
        }
    }
    free(mine);
    return NULL;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        int known = 0;
        for (int j = 0; j < NUMBERS; j++) {
            size_t length = strlen(shape[j].name);
            if (strncmp(argv[i], shape[j].name, length) == 0 && argv[i][length] == '=')
                shape[j].value = atol(argv[i] + length + 1), known = 1;
        }
        if (!known) {
            fprintf(stderr, "%s: not known\n", argv[i]);
            return 2;
        }
    }
    long threads = shape[THREADS].value;
    pthread_t *crew = calloc(threads, sizeof *crew);
    at = calloc(shape[LOCATIONS].value, sizeof *at);
    if (!crew || !at)
        return 2;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&guarded[i].lock, NULL);
    pthread_barrier_init(&start, NULL, threads);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&crew[i], NULL, body, (void *)i) != 0)
            return 2;
    for (long i = 0; i < threads; i++)
        pthread_join(crew[i], NULL);
    free(crew);
    free(at);
    return 0;
}

// Loops that wait for somebody: a thread that would only read the same again must not be given a turn.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int flag, other, lock, done;
static int plain;

static void set(void) {
    plain = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
}

static void *load(void *unused) {
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    assert(plain == 1);
    return unused;
}

static void *yield(void *unused) {
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        sched_yield();
    assert(plain == 1);
    return unused;
}

static void *fences(void *unused) {
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        atomic_thread_fence(memory_order_seq_cst);
    return unused;
}

static void *two(void *unused) {
    while (!atomic_load(&flag) && !atomic_load(&other))
        ;
    return unused;
}

// Deep inside of a recursion, with a large frame in between.
static int deep(int depth) {
    volatile char room[4000];
    room[depth] = 1;
    if (depth > 0)
        return deep(depth - 1) + room[depth];
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    return plain;
}

static void *recursion(void *unused) {
    assert(deep(5) == 6);
    return unused;
}

// Both compare-and-swaps of this loop fail, each with a value that is kept on the stack.
static void *swap(void *unused) {
    int expected = 1;
    while (!atomic_compare_exchange_strong(&flag, &expected, 2))
        expected = 1;
    return unused;
}

static void take(void) {
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        ;
}

static void take_politely(void) {
    do {
        while (atomic_load_explicit(&lock, memory_order_relaxed))
            ;
    } while (atomic_exchange_explicit(&lock, 1, memory_order_acquire));
}

static void give(void) { atomic_store_explicit(&lock, 0, memory_order_release); }

static void *exchange(void *unused) {
    take();
    plain++;
    give();
    return unused;
}

static void *politely(void *unused) {
    take_politely();
    plain++;
    give();
    return unused;
}

// Not a wait: it gives up.
static void *counted(void *unused) {
    for (int i = 0; i < 10; i++)
        if (atomic_load(&flag))
            return unused;
    atomic_store(&done, 1);
    return unused;
}

// Not a wait either: it counts in memory.
static long turns;
static void *counted_in_memory(void *unused) {
    while (!atomic_load(&flag) && turns < 10)
        turns++;
    return unused;
}

// Nor where libc writes what it has counted, or keeps what it has drawn.
static char text[8] = "0";
static void *formatted(void *unused) {
    while (!atomic_load(&flag) && strcmp(text, "10") != 0)
        snprintf(text, sizeof text, "%d", atoi(text) + 1);
    return unused;
}

// The eighth number is the first one that is a multiple of 4.
static void *drawn(void *unused) {
    while (!atomic_load(&flag) && rand() % 4 != 0)
        ;
    return unused;
}

// A compare-and-swap that failed writes what it found: it won't find it again.
static __thread int found;
static void *finds(void *unused) {
    while (!atomic_compare_exchange_strong(&other, &found, found + 1))
        ;
    return unused;
}

static const struct {
    const char *name;
    void *(*thread)(void *), *(*another)(void *);
} kinds[] = {
    {"load", load, 0},           {"yield", yield, 0},         {"fences", fences, 0},
    {"two", two, 0},             {"recursion", recursion, 0}, {"swap", swap, 0},
    {"counted", counted, 0},     {"memory", counted_in_memory, 0},
    {"formatted", formatted, 0}, {"drawn", drawn, 0},
    {"thread-local", finds, finds},
    {"exchange", exchange, exchange}, {"politely", politely, politely},
    // Nobody sets the flag.
    {"for-ever", load, load},
};

int main(int count, char **arguments) {
    pthread_t first, second;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (count != 2 || strcmp(arguments[1], kinds[i].name))
            continue;
        pthread_create(&first, 0, kinds[i].thread, 0);
        if (kinds[i].another)
            pthread_create(&second, 0, kinds[i].another, 0);
        else
            set();
        pthread_join(first, 0);
        if (kinds[i].another)
            pthread_join(second, 0);
        return 0;
    }
    return 99;
}

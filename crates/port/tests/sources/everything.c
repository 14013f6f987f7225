// Everything in C that the reader has to know: atomics of all kinds, volatile, fences, loops, switches, fields, pointers to functions.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *_Atomic next;
    char name[20];
    union {
        long number;
        void *pointer;
    } value;
    struct {
        _Atomic unsigned char small;
        _Atomic long long large;
    } inner[4];
};

static struct node *_Atomic top;
static struct node table[8];
static volatile int device;
static _Thread_local int mine;
static int (*volatile chosen)(const void *, const void *);
_Atomic int shared, *pointer = &shared;
const char *const names[] = {"a;b", "c\"d", "e{f"};

static int compare(const void *a, const void *b) {
    return strcmp(((const struct node *)a)->name, ((const struct node *)b)->name);
}

static void push(struct node *new, long number) {
    new->value.number = number;
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        atomic_store_explicit(&new->next, old, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &old, new, memory_order_release, memory_order_relaxed));
}

static int orders(int which) {
    switch (which) {
    case 0:
        atomic_thread_fence(memory_order_acquire);
        return atomic_fetch_add_explicit(&shared, 1, memory_order_relaxed);
    case 1:
        atomic_thread_fence(memory_order_release);
        return atomic_exchange_explicit(&shared, 7, memory_order_acquire);
    case 2:
        atomic_thread_fence(memory_order_acq_rel);
        return atomic_fetch_or_explicit(&shared, 3, memory_order_release);
    case 3:
        atomic_thread_fence(memory_order_seq_cst);
        atomic_signal_fence(memory_order_seq_cst);
        return atomic_fetch_sub_explicit(pointer, 2, memory_order_acq_rel);
    case 4: {
        int expected = 4;
        return atomic_compare_exchange_strong(&shared, &expected, 5) ? 1 : expected;
    }
    default:
        return atomic_load(&shared) + atomic_load_explicit(&shared, memory_order_acquire);
    }
}

static void *thread(void *argument) {
    long number = (long)argument;
    struct node *new = calloc(1, sizeof *new);
    if (!new)
        abort();
    snprintf(new->name, sizeof new->name, "%s %ld", names[number % 3], number);
    push(new, number);
    atomic_store(&table[number % 8].inner[number % 4].large, number);
    atomic_store_explicit(&table[number % 8].inner[1].small, 1, memory_order_release);
    mine = orders((int)number);
    device = mine;
    __asm__ volatile("" ::: "memory");
    struct node copy = *new;
    qsort(table, 8, sizeof *table, chosen);
    return (void *)(copy.value.number + device);
}

int main(void) {
    pthread_t ids[3];
    chosen = compare;
    for (long i = 0; i < 3; i++)
        pthread_create(&ids[i], NULL, thread, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(ids[i], NULL);
    return 0;
}

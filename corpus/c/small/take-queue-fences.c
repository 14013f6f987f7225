// Low-lock queue with an SC fence after each claim (Duffy, Building a custom thread pool: a work stealing queue, 2008; after Sober, CAV 2008, Fig. 4a).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

enum { ITEMS = 2, NONE = -1 };
static atomic_int head, tail;
static int slots[ITEMS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int got[2][ITEMS];

static void push(int item) {
    int t = atomic_load_explicit(&tail, memory_order_relaxed);
    slots[t] = item;
    atomic_store_explicit(&tail, t + 1, memory_order_release);
}

static int take(void) {
    int t = atomic_load_explicit(&tail, memory_order_relaxed) - 1;
    atomic_store_explicit(&tail, t, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&head, memory_order_acquire) <= t)
        return slots[t];
    // A thief wants the same item, or there is none: decide under the lock.
    pthread_mutex_lock(&mutex);
    int found = atomic_load_explicit(&head, memory_order_relaxed) <= t;
    if (!found)
        atomic_store_explicit(&tail, t + 1, memory_order_release);
    pthread_mutex_unlock(&mutex);
    return found ? slots[t] : NONE;
}

static int steal(void) {
    int item = NONE;
    pthread_mutex_lock(&mutex);
    int h = atomic_load_explicit(&head, memory_order_relaxed);
    atomic_store_explicit(&head, h + 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (h < atomic_load_explicit(&tail, memory_order_acquire))
        item = slots[h];
    else
        atomic_store_explicit(&head, h, memory_order_release);
    pthread_mutex_unlock(&mutex);
    return item;
}

static void body(int me) {
    for (int i = 0; me == 0 && i < ITEMS; i++)
        push(i);
    for (int i = 0; i < ITEMS; i++)
        got[me][i] = me == 0 ? take() : steal();
}

int main(void) {
    together(2, body);
    int times[ITEMS] = {0};
    for (int i = atomic_load(&head); i < atomic_load(&tail); i++)
        times[slots[i]]++;
    for (int i = 0; i < 2 * ITEMS; i++)
        if (got[i / ITEMS][i % ITEMS] != NONE)
            times[got[i / ITEMS][i % ITEMS]]++;
    for (int i = 0; i < ITEMS; i++)
        assert(times[i] == 1);
}

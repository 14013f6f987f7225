// Work-stealing deque with the published fences, of fixed size (Chase & Lev, SPAA 2005; Lê et al., Correct and efficient work-stealing for weak memory models, PPoPP 2013).
//@ run: not-robust
#include "threads.h"

enum { SIZE = 8, TASKS = 300, EMPTY = -1, ABORT = -2 };
static atomic_long top, bottom;
static atomic_int slots[SIZE];
static atomic_int done;
static atomic_int taken[TASKS];

static int push(int task) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    long t = atomic_load_explicit(&top, memory_order_acquire); //~ stale
    if (b - t > SIZE - 1)
        return 0;
    dawdle(); // Copying a task takes a while.
    atomic_store_explicit(&slots[b % SIZE], task, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed); //~ missed
    return 1;
}

static int take(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed); //~ missed
    atomic_thread_fence(memory_order_seq_cst);
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed); //~ missed
        return EMPTY;
    }
    int task = atomic_load_explicit(&slots[b % SIZE], memory_order_relaxed);
    dawdle(); // Copying a task takes a while.
    if (t == b) {
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed)) //~ missed
            task = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed); //~ missed
    }
    return task;
}

static int steal(void) {
    long t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, memory_order_acquire); //~ stale
    if (t >= b)
        return EMPTY;
    int task = atomic_load_explicit(&slots[t % SIZE], memory_order_relaxed);
    dawdle(); // Copying a task takes a while.
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed)) //~ stale missed
        return ABORT;
    return task;
}

static void finish(int task) {
    if (task >= 0)
        must(atomic_fetch_add_explicit(&taken[task], 1, memory_order_relaxed) == 0);
}

static void body(int role) {
    if (role == 0) {
        for (int i = 0; i < TASKS;) {
            if (push(i))
                i++;
            if (i % 4 == 0)
                finish(take());
            sched_yield();
        }
        for (int task = 0; task != EMPTY; finish(task))
            task = take();
        atomic_store(&done, 1);
    } else {
        while (!atomic_load(&done)) {
            finish(steal());
            sched_yield();
        }
    }
}

int main(void) {
    run(3, 1, body, NULL);
    for (int i = 0; i < TASKS; i++)
        must(atomic_load(&taken[i]) == 1);
}

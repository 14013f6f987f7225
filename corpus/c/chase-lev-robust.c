// Work-stealing deque with fences that make it robust, of fixed size (Chase & Lev, SPAA 2005; Lê et al., Correct and efficient work-stealing for weak memory models, PPoPP 2013).
//@ run: robust
//
// Beside the published version (chase-lev.c):
// - SC fences before `top` is read, in `push` and in `steal`, so that nobody misses what others did before they last looked at `bottom`;
// - another one in `steal`, behind `bottom`: what a thief saw there, the next one must not miss;
// - release stores of `bottom` everywhere, so that a thief that reads one knows of the compare-and-swap before it;
// - release stores and acquire loads of the slots, so that a thief that is late, and reads what was pushed a round later, knows that it is late.
// All but the third are needed only where thieves meet in rare ways: `seqcst check` found them, in chase-lev-slots-rc11.tpl.
#include "threads.h"

enum { SIZE = 8, TASKS = 300, EMPTY = -1, ABORT = -2 };
static atomic_long top, bottom;
static atomic_int slots[SIZE];
static atomic_int done;
static atomic_int taken[TASKS];

static int push(int task) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    long t = atomic_load_explicit(&top, memory_order_acquire);
    if (b - t > SIZE - 1)
        return 0;
    dawdle(); // Copying a task takes a while.
    atomic_store_explicit(&slots[b % SIZE], task, memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_release);
    return 1;
}

static int take(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_release);
        return EMPTY;
    }
    int task = atomic_load_explicit(&slots[b % SIZE], memory_order_relaxed);
    dawdle(); // Copying a task takes a while.
    if (t == b) {
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
            task = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_release);
    }
    return task;
}

static int steal(void) {
    atomic_thread_fence(memory_order_seq_cst);
    long t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return EMPTY;
    atomic_thread_fence(memory_order_seq_cst);
    int task = atomic_load_explicit(&slots[t % SIZE], memory_order_acquire);
    dawdle(); // Copying a task takes a while.
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
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

// Ring buffer for one producer and one consumer, with SC fences before each side looks at the other's index (Lamport, TSE 1977).
//@ run: robust
#include "threads.h"

enum { SIZE = 4, ITEMS = 50 };
static atomic_uint head, tail;
static int slots[SIZE];
static long refused, missed;

static int push(int value) {
    unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (t - atomic_load_explicit(&head, memory_order_acquire) == SIZE)
        return 0;
    slots[t % SIZE] = value;
    dawdle(); // Copying takes a while.
    atomic_store_explicit(&tail, t + 1, memory_order_release);
    return 1;
}

static int pop(int *value) {
    unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (h == atomic_load_explicit(&tail, memory_order_acquire))
        return 0;
    *value = slots[h % SIZE];
    dawdle();
    atomic_store_explicit(&head, h + 1, memory_order_release);
    return 1;
}

static void body(int role) {
    for (int i = 0, got; i < ITEMS;) {
        if (role == 0) {
            if (push(i))
                i++;
            else
                refused++, sched_yield();
        } else if (pop(&got)) {
            must(got == i++);
        } else {
            missed++, sched_yield();
        }
    }
}

int main(void) {
    run(2, 4, body, NULL);
}

// Ring buffer for one producer and one consumer, release/acquire (Lamport, Proving the correctness of multiprocess programs, TSE 1977).
//@ run: not-robust
//
// Correct, but not robust: each side stores its own index and then loads the other's, which is store buffering. Both may be told
// "full" and "empty" where under SC one of them is not.
#include "threads.h"

enum { SIZE = 4, ITEMS = 50 };
static atomic_uint head, tail;
static int slots[SIZE];
static long refused, missed;

static int push(int value) {
    unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
    if (t - atomic_load_explicit(&head, memory_order_acquire) == SIZE) //~ stale
        return 0;
    slots[t % SIZE] = value;
    dawdle(); // Copying takes a while.
    atomic_store_explicit(&tail, t + 1, memory_order_release); //~ missed
    return 1;
}

static int pop(int *value) {
    unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
    if (h == atomic_load_explicit(&tail, memory_order_acquire)) //~ stale
        return 0;
    *value = slots[h % SIZE];
    dawdle();
    atomic_store_explicit(&head, h + 1, memory_order_release); //~ missed
    return 1;
}

static void body(int role) {
    for (int i = 0, got; i < ITEMS;) {
        if (role == 0) {
            // What happens after a refusal is seen from outside: it is not only a wait.
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

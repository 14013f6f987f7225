// Reference counting: relaxed increments, release decrements, an acquire fence before the last owner frees (Boehm, Boost's shared_ptr).
//@ run: robust
//
// ThreadSanitizer, which does not see what fences order, reports a race between the uses and free.
#include "threads.h"

struct shared {
    atomic_int owners;
    int value;
};
static struct shared *object;

static void drop(struct shared *it) {
    if (atomic_fetch_sub_explicit(&it->owners, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        it->value = -1;
        free(it);
    }
}

static struct shared *copy(struct shared *it) {
    atomic_fetch_add_explicit(&it->owners, 1, memory_order_relaxed);
    return it;
}

static void body(int role) {
    (void)role;
    struct shared *mine = object;
    struct shared *another = copy(mine);
    must(mine->value == 7);
    drop(mine);
    must(another->value == 7);
    drop(another);
}

static void make(void) {
    object = malloc(sizeof *object);
    must(object != NULL);
    atomic_init(&object->owners, 3);
    object->value = 7;
}

int main(void) {
    make();
    run(3, 100, body, make);
    free(object);
}

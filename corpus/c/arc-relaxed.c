// Reference counting with relaxed decrements: the last owner may free while another still uses.
//@ run: race
#include "threads.h"

struct shared {
    atomic_int owners;
    int value;
};
static struct shared *object;

static void drop(struct shared *it) {
    if (atomic_fetch_sub_explicit(&it->owners, 1, memory_order_relaxed) == 1) { //~ race
        atomic_thread_fence(memory_order_acquire);
        it->value = -1; //~ race
        free(it); //~ race
    }
}

static void body(int role) {
    (void)role;
    struct shared *mine = object;
    must(mine->value == 7); //~ race
    drop(mine);
}

static void make(void) {
    object = malloc(sizeof *object);
    must(object != NULL);
    atomic_init(&object->owners, 3);
    object->value = 7;
}

int main(void) {
    make();
    run(3, 10, body, make);
    free(object);
}

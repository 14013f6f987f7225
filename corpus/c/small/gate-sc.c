// A gate whose opener wakes who is waiting, with SC accesses (after the sleeping barber: Dijkstra, EWD 123, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

#include <semaphore.h>

static atomic_int waiting, is_open;
static sem_t token;

static void body(int me) {
    if (me == 0) {
        atomic_fetch_add_explicit(&waiting, 1, memory_order_seq_cst);
        if (!atomic_load(&is_open))
            sem_wait(&token);
    } else {
        atomic_store_explicit(&is_open, 1, memory_order_seq_cst);
        if (atomic_load(&waiting) > 0)
            sem_post(&token);
    }
}

int main(void) {
    sem_init(&token, 0, 0);
    together(2, body);
}

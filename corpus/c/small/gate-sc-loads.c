// A gate whose opener wakes who is waiting: SC loads stand where fences should, and the wake-up gets lost, on x86 too (after the sleeping barber: Dijkstra, EWD 123, 1965).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: robust
//@ tso: not-robust
//@ run: not-robust
#include "together.h"

#include <semaphore.h>

static atomic_int waiting, is_open;
static sem_t token;

static void body(int me) {
    if (me == 0) {
        atomic_fetch_add_explicit(&waiting, 1, memory_order_acq_rel); //~ missed
        if (!atomic_load(&is_open)) //~ stale
            sem_wait(&token);
    } else {
        atomic_store_explicit(&is_open, 1, memory_order_release); //~ missed
        if (atomic_load(&waiting) > 0) //~ stale
            sem_post(&token);
    }
}

int main(void) {
    sem_init(&token, 0, 0);
    together(2, body);
}

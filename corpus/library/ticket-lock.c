//@ specification: lock
//@ lock: ticket_lock
//@ unlock: ticket_unlock
//@ verdict: robust
// A ticket lock (Mellor-Crummey and Scott, Algorithms for scalable synchronization, 1991): first come, first served.
#include <stdatomic.h>

struct ticket {
    atomic_uint next;  // the next ticket to be handed out
    atomic_uint owner; // the ticket whose turn it is
};

void ticket_lock(struct ticket *l) {
    unsigned mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&l->owner, memory_order_acquire) != mine)
        ;
}

// Only the owner comes here, so nobody else writes.
void ticket_unlock(struct ticket *l) {
    unsigned mine = atomic_load_explicit(&l->owner, memory_order_relaxed);
    atomic_store_explicit(&l->owner, mine + 1, memory_order_release); //@ linearization-point
}

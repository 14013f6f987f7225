// A producer that looks for idle consumers and a consumer that looks for work: the wake-up gets lost (Burckhardt & Musuvathi, Sober, CAV 2008, Fig. 4b).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//@ run: not-robust
#include "together.h"

static atomic_int is_idling, has_work;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pulse = PTHREAD_COND_INITIALIZER;

static void block_on_idle(void) {
    pthread_mutex_lock(&mutex);
    atomic_store_explicit(&is_idling, 1, memory_order_release); //~ missed
    while (!atomic_load_explicit(&has_work, memory_order_acquire)) //~ stale
        pthread_cond_wait(&pulse, &mutex);
    atomic_store_explicit(&is_idling, 0, memory_order_release);
    pthread_mutex_unlock(&mutex);
}

static void notify_potential_work(void) {
    atomic_store_explicit(&has_work, 1, memory_order_release); //~ missed
    if (atomic_load_explicit(&is_idling, memory_order_acquire)) { //~ stale
        pthread_mutex_lock(&mutex);
        pthread_cond_signal(&pulse);
        pthread_mutex_unlock(&mutex);
    }
}

static void body(int me) {
    if (me == 0)
        block_on_idle();
    else
        notify_potential_work();
}

int main(void) {
    together(2, body);
    assert(atomic_load(&has_work) && !atomic_load(&is_idling));
}

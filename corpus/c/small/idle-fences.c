// A producer that looks for idle consumers and a consumer that looks for work, with SC fences between (repair of Sober's Fig. 4b, CAV 2008).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ run: robust
#include "together.h"

static atomic_int is_idling, has_work;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pulse = PTHREAD_COND_INITIALIZER;

static void block_on_idle(void) {
    pthread_mutex_lock(&mutex);
    atomic_store_explicit(&is_idling, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    while (!atomic_load_explicit(&has_work, memory_order_acquire))
        pthread_cond_wait(&pulse, &mutex);
    atomic_store_explicit(&is_idling, 0, memory_order_release);
    pthread_mutex_unlock(&mutex);
}

static void notify_potential_work(void) {
    atomic_store_explicit(&has_work, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&is_idling, memory_order_acquire)) {
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

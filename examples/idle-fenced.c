// `idle.c` with a fence in each thread between the store and the load: now one of them sees the other.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int has_work, is_idle;

static void *worker(void *unused) {
    atomic_store_explicit(&is_idle, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&has_work, memory_order_acquire))
        puts("worker: at work");
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    usleep(100000); // any order is as good: this only makes the run the same each time
    atomic_store_explicit(&has_work, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&is_idle, memory_order_acquire))
        puts("main: wake the worker up");
    pthread_join(thread, NULL);
}

// Code without a line (compilers say 0 where it stands for several places): one race, told with the nearest line.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static int shared, flag;
static volatile int local;

static void *writes(void *unused) {
    local = 1;
#line 0
    shared = 1;
#line 14
    __atomic_fetch_add(&flag, 1, __ATOMIC_RELAXED);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writes, NULL);
    while (!__atomic_load_n(&flag, __ATOMIC_RELAXED)) usleep(100);
    volatile int seen = shared;
    (void)seen;
    pthread_join(thread, NULL);
    return 0;
}

// Two threads that use both registers ([RoboCop24], Fig. 1): with SC fences between the calls, one of
// them reads 1.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

void set1(int);
int get1(void);
void set2(int);
int get2(void);

static void *left(void *unused) {
    set1(1);
    atomic_thread_fence(memory_order_seq_cst);
    printf("left reads %d\n", get2());
    return unused;
}

static void *right(void *unused) {
    set2(1);
    atomic_thread_fence(memory_order_seq_cst);
    printf("right reads %d\n", get1());
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

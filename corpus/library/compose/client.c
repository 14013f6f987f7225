// Two threads that use both registers ([RoboCop24], Fig. 1): without fences both may read 0.
#include <pthread.h>
#include <stdio.h>

void set1(int);
int get1(void);
void set2(int);
int get2(void);

static void *left(void *unused) {
    set1(1);
    printf("left reads %d\n", get2());
    return unused;
}

static void *right(void *unused) {
    set2(1);
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

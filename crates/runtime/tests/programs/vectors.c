// A race in loops of which compilers make vectors.
#include <pthread.h>

int a[64], b[64];

static void *writes(void *argument) {
    for (int i = 0; i < 64; i++) a[i] = b[i] + 1;
    return argument;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, 0, writes, 0);
    for (int i = 0; i < 64; i++) sum += a[i];
    pthread_join(thread, 0);
    return sum == -1;
}

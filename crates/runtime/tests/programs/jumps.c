// longjmp out of many frames, over and over, and coroutines on stacks of their own: call stacks stay right.
// With an argument it races at the end, and the report must show `racing` called by `main`, nothing of what was left.
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <ucontext.h>
#include <unistd.h>

static jmp_buf back;
static atomic_int count;
static int shared, flag;

__attribute__((noinline)) static void deep(int depth) {
    atomic_fetch_add(&count, 1);
    if (depth == 0) longjmp(back, 1);
    deep(depth - 1);
    atomic_fetch_add(&count, 1);
}

static ucontext_t outside, inside;
static char stack[256 << 10];

static void coroutine(void) {
    for (int i = 0; i < 100; i++) {
        atomic_fetch_add(&count, 1);
        swapcontext(&inside, &outside);
    }
}

static void *writes(void *argument) {
    (void)argument;
    shared = 1;
    atomic_store_explicit((atomic_int *)&flag, 1, memory_order_relaxed);
    return NULL;
}

__attribute__((noinline)) static void racing(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writes, NULL);
    while (!atomic_load_explicit((atomic_int *)&flag, memory_order_relaxed)) usleep(100);
    CHECK(shared == 1);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    (void)argv;
    for (volatile int i = 0; i < 20000; i++) {
        if (setjmp(back) == 0) deep(i % 30);
    }
    CHECK(count > 20000);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    for (int i = 0; i < 100; i++) swapcontext(&outside, &inside);
    if (argc > 1) racing();
    puts("jumps: ok");
    return 0;
}

// Ways for a process to end, named by the argument, after a race was found (or not, if there is a second argument).
// Where a race was found, the summary is printed once. The exit code is 66, but for crashes: those keep their signal.
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int shared, flag;

static void *writes(void *argument) {
    (void)argument;
    shared = 1;
    __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void race(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writes, NULL);
    while (!__atomic_load_n(&flag, __ATOMIC_RELAXED)) usleep(100);
    CHECK(shared == 1);
    pthread_join(thread, NULL);
}

static void say(void) { puts("handler ran"); }

static void *leaves_last(void *argument) {
    (void)argument;
    usleep(50000);
    return NULL;
}

__attribute__((noinline)) static int deeper(volatile char *outer) {
    volatile char room[4096];
    room[0] = *outer + 1;
    return deeper(room) + room[0];
}

static void *overflows(void *argument) {
    volatile char start = 0;
    return (void *)(intptr_t)(deeper(&start) + (argument == NULL));
}

static void handled(int signal) {
    (void)signal;
    static const char text[] = "handled\n";
    if (write(1, text, sizeof text - 1) < 0) _exit(9);
    _exit(7);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "return";
    if (argc < 3) race();
    printf("ends by %s\n", how);
    fflush(stdout);
    atexit(say);
    at_quick_exit(say);
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "_exit")) _exit(3);
    if (!strcmp(how, "_Exit")) _Exit(3);
    if (!strcmp(how, "quick_exit")) quick_exit(3);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "raise")) raise(SIGFPE);
    if (!strcmp(how, "segv")) *(volatile int *)8 = 1;
    if (!strcmp(how, "atomic")) __atomic_store_n((int *)8, 1, __ATOMIC_SEQ_CST);
    if (!strcmp(how, "memcpy")) memcpy((void *)(intptr_t)(argc > 100 ? &shared : (int *)8), &flag, 4);
    if (!strcmp(how, "trap")) __builtin_trap();
    if (!strcmp(how, "bus")) {
        FILE *empty = tmpfile();
        char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(empty), 0);
        return *(volatile char *)map;
    }
    if (!strcmp(how, "overflow")) overflows(NULL);
    if (!strcmp(how, "overflow-in-thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, overflows, NULL);
        pthread_join(thread, NULL);
    }
    if (!strcmp(how, "handled")) {
        signal(SIGSEGV, handled);
        *(volatile int *)8 = 1;
    }
    if (!strcmp(how, "handled-and-restored")) {
        struct sigaction mine = {.sa_handler = handled}, old;
        CHECK(sigaction(SIGSEGV, &mine, &old) == 0);
        CHECK(old.sa_handler == SIG_DFL);
        CHECK(sigaction(SIGSEGV, &old, &mine) == 0);
        CHECK(mine.sa_handler == handled);
        *(volatile int *)8 = 1;
    }
    if (!strcmp(how, "ignored")) {
        signal(SIGABRT, SIG_IGN);
        raise(SIGABRT);
        return 4;
    }
    if (!strcmp(how, "pthread_exit")) {
        pthread_t thread;
        pthread_create(&thread, NULL, leaves_last, NULL);
        pthread_detach(thread);
        pthread_exit(NULL);
    }
    return strcmp(how, "zero") ? 3 : 0;
}

// fork, vfork, exec, spawn, system, popen: children are watched on their own, and nothing hangs.
// In the child of a fork that races, 66; everywhere else nothing to report, exit code 0.
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int shared, flag, stop;
static atomic_int counters[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *writes(void *argument) {
    (void)argument;
    shared = 1;
    __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void race(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, writes, NULL) == 0);
    while (!__atomic_load_n(&flag, __ATOMIC_RELAXED)) usleep(100);
    CHECK(shared == 1);
    pthread_join(thread, NULL);
}

static int result(pid_t child) {
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void *busy(void *argument) {
    unsigned at = (unsigned)(long)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        atomic_fetch_add_explicit(&counters[at++ % 64], 1, memory_order_acq_rel);
        pthread_mutex_lock(&mutex);
        shared++;
        pthread_mutex_unlock(&mutex);
        free(malloc(at % 1000));
    }
    return NULL;
}

static void *quick(void *argument) { return argument; }

// While other threads are in the middle of everything: the child must be able to go on.
static void fork_in_a_crowd(void) {
    pthread_t thread[3];
    for (long i = 0; i < 3; i++) pthread_create(&thread[i], NULL, busy, (void *)(i * 20));
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            for (int j = 0; j < 64; j++) atomic_fetch_add_explicit(&counters[j], 1, memory_order_relaxed);
            pthread_t own;
            CHECK(pthread_create(&own, NULL, quick, NULL) == 0);
            CHECK(pthread_join(own, NULL) == 0);
            free(malloc(100));
            _exit(5);
        }
        CHECK(result(child) == 5);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "child")) return 11;
    if (argc > 1 && !strcmp(argv[1], "race-and-exec")) {
        race();
        execl("/bin/true", "true", (char *)NULL);
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        race();
        return 0; // by way of exit: 66
    }
    CHECK(result(child) == 66);
    child = fork();
    if (child == 0) {
        race();
        _exit(0);
    }
    CHECK(result(child) == 66);
    // A lock that is taken before two forks is the child's child's to give back.
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    child = fork();
    if (child == 0) {
        child = fork();
        if (child == 0) {
            pthread_mutex_unlock(&mutex);
            return 0; // by way of exit: 66 if that was reported
        }
        return result(child);
    }
    CHECK(result(child) == 0);
    pthread_mutex_unlock(&mutex);
    child = fork();
    if (child == 0) _exit(3);
    CHECK(result(child) == 3);
    child = vfork();
    if (child == 0) _exit(4);
    CHECK(result(child) == 4);
    child = vfork();
    if (child == 0) {
        execl("/proc/self/exe", argv[0], "child", (char *)NULL);
        _exit(1);
    }
    CHECK(result(child) == 11);
    child = fork();
    if (child == 0) {
        char *arguments[] = {argv[0], "child", NULL};
        execve("/proc/self/exe", arguments, environ);
        _exit(1);
    }
    CHECK(result(child) == 11);
    child = fork();
    if (child == 0) {
        execlp("no-such-program-anywhere", "x", "1", "2", "3", "4", "5", "6", "7", "8", (char *)NULL);
        _exit(12);
    }
    CHECK(result(child) == 12);
    char *arguments[] = {argv[0], "child", NULL};
    CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
    CHECK(result(child) == 11);
    CHECK(WEXITSTATUS(system("exit 6")) == 6);
    FILE *output = popen("echo hello", "r");
    char line[16] = "";
    CHECK(output && fgets(line, sizeof line, output) && !strcmp(line, "hello\n") && pclose(output) == 0);
    fork_in_a_crowd();
    puts("processes: ok");
    return 0;
}

// What can go wrong, one by one.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Alignas(64) atomic_int flag, other;
static _Alignas(64) atomic_int sum;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void *sets(void *unused) { (void)unused; flag = 1; return NULL; }
static void *adds(void *unused) { (void)unused; sum++; return NULL; }
static void *leaves(void *unused) { (void)unused; flag = 1; exit(flag == 1 ? 7 : 0); }
static void *crashes(void *unused) { (void)unused; if (flag) *(volatile int *)8 = 1; return NULL; }
static void *aborts(void *unused) { (void)unused; if (flag) abort(); return NULL; }
static void *forks(void *unused) {
    (void)unused;
    flag++;
    pid_t child = fork();
    if (child == 0) { flag++; _exit(flag == 2 ? 5 : 6); }
    int status = 0;
    waitpid(child, &status, 0);
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return NULL;
}
static void *ba(void *unused) {
    (void)unused;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}
static void *spins(void *unused) {
    (void)unused;
    int value;
    flag = 1;
    do __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(other)); while (!value);
    return NULL;
}
static void *polite(void *unused) { // gives way for ever to who gives way
    (void)unused;
    for (;;) {
        other = 1;
        if (!flag) return NULL;
        other = 0;
        sched_yield();
    }
}
static void *reads(void *unused) {
    (void)unused;
    char byte;
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x' && flag == 1);
    return NULL;
}
static void *sleeps(void *unused) { (void)unused; for (int i = 0; i < 3; i++) { usleep(1000000); sum++; } return NULL; }
static void *ends_by_exit(void *unused) { sum++; pthread_exit(unused); }

static pthread_key_t key;
static void destroyed(void *value) { sum += *(int *)value; free(value); }
static void *has_local(void *unused) {
    (void)unused;
    int *value = malloc(sizeof *value);
    *value = 5;
    pthread_setspecific(key, value);
    return NULL;
}
static void *detached_one(void *unused) { (void)unused; pthread_detach(pthread_self()); sum++; return NULL; }

static atomic_int got;
static void handler(int signal) { got = signal; sum += pthread_self() != 0; }
static void *waits_for_signal(void *unused) { (void)unused; flag = 1; while (!got) sched_yield(); return NULL; }
static void *wants_signal(void *set) {
    int signal = 0;
    assert(!sigwait(set, &signal) && signal == SIGUSR2);
    sum = 9;
    return NULL;
}

static void cleaned_up(void *unused) { (void)unused; sum += 100; pthread_mutex_unlock(&a); }
static void *waits_for_ever(void *unused) {
    (void)unused;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&a);
    pthread_cleanup_push(cleaned_up, NULL);
    for (;;) pthread_cond_wait(&never, &a);
    pthread_cleanup_pop(0);
}

int main(int count, char **arguments) {
    const char *kind = count > 1 ? arguments[1] : "";
    pthread_t thread, second;
    if (!strcmp(kind, "hang")) { // nobody ever writes
        assert(!pipe(ends));
        pthread_create(&thread, NULL, reads, NULL);
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "pipe")) {
        assert(!pipe(ends));
        pthread_create(&thread, NULL, reads, NULL);
        flag = 1;
        assert(write(ends[1], "x", 1) == 1);
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "poll")) {
        assert(!pipe(ends));
        pthread_create(&thread, NULL, reads, NULL);
        flag = 1;
        struct pollfd file = {ends[0], POLLIN, 0};
        if (poll(&file, 1, 100) == 0) sum = 1; // nothing there: time is up
        assert(write(ends[1], "x", 1) == 1);
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "exit")) {
        pthread_create(&thread, NULL, leaves, NULL);
        while (1) sched_yield();
    } else if (!strcmp(kind, "crash")) {
        pthread_create(&thread, NULL, crashes, NULL);
        flag = 1;
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "abort")) {
        pthread_create(&thread, NULL, aborts, NULL);
        flag = 1;
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "code")) {
        pthread_create(&thread, NULL, sets, NULL);
        int early = flag;
        pthread_join(thread, NULL);
        return early ? 0 : 3;
    } else if (!strcmp(kind, "thousand")) {
        static pthread_t all[1000];
        for (int i = 0; i < 1000; i++) assert(!pthread_create(&all[i], NULL, adds, NULL));
        for (int i = 0; i < 1000; i++) pthread_join(all[i], NULL);
        assert(sum == 1000);
    } else if (!strcmp(kind, "fork")) {
        pthread_create(&thread, NULL, forks, NULL);
        pthread_join(thread, NULL);
        assert(flag == 1);
    } else if (!strcmp(kind, "exec")) {
        pthread_create(&thread, NULL, sets, NULL);
        pthread_join(thread, NULL);
        execlp("true", "true", (char *)NULL);
        return 4;
    } else if (!strcmp(kind, "assembly")) {
        pthread_create(&thread, NULL, spins, NULL);
        while (!flag) {}
        other = 1;
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "deadlock")) {
        pthread_create(&thread, NULL, ba, NULL);
        pthread_mutex_lock(&a);
        pthread_mutex_lock(&b);
        pthread_mutex_unlock(&b);
        pthread_mutex_unlock(&a);
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "itself")) {
        pthread_mutex_lock(&a);
        pthread_mutex_lock(&a);
    } else if (!strcmp(kind, "join-cycle")) {
        pthread_create(&thread, NULL, adds, NULL);
        pthread_mutex_lock(&a);
        pthread_create(&second, NULL, ba, NULL);
        pthread_join(second, NULL);
        pthread_mutex_unlock(&a);
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "livelock")) { // nobody sets it
        pthread_create(&thread, NULL, adds, NULL);
        while (!flag) sched_yield();
    } else if (!strcmp(kind, "polite")) {
        pthread_create(&thread, NULL, polite, NULL);
        for (;;) {
            flag = 1;
            if (!other) break;
            flag = 0;
            sched_yield();
        }
        flag = 0;
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "sleep")) {
        pthread_create(&thread, NULL, sleeps, NULL);
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        sleep(2);
        clock_gettime(CLOCK_MONOTONIC, &after);
        assert(after.tv_sec - before.tv_sec >= 2);
        pthread_join(thread, NULL);
        assert(sum == 3);
    } else if (!strcmp(kind, "pthread-exit")) {
        pthread_create(&thread, NULL, ends_by_exit, &sum);
        void *result;
        pthread_join(thread, &result);
        assert(result == &sum && sum == 1);
    } else if (!strcmp(kind, "main-exits")) {
        pthread_create(&thread, NULL, adds, NULL);
        pthread_create(&second, NULL, ends_by_exit, NULL);
        pthread_exit(NULL);
    } else if (!strcmp(kind, "left-behind")) { // still running at the end
        pthread_create(&thread, NULL, adds, NULL);
        pthread_create(&second, NULL, ba, NULL);
        return sum > 1;
    } else if (!strcmp(kind, "detached")) {
        pthread_create(&thread, NULL, detached_one, NULL);
        while (!sum) sched_yield();
    } else if (!strcmp(kind, "locals")) {
        pthread_key_create(&key, destroyed);
        pthread_create(&thread, NULL, has_local, NULL);
        pthread_create(&second, NULL, has_local, NULL);
        pthread_join(thread, NULL);
        pthread_join(second, NULL);
        assert(sum == 10);
    } else if (!strcmp(kind, "signals")) {
        signal(SIGUSR1, handler);
        raise(SIGUSR1);
        assert(got == SIGUSR1);
        got = 0;
        pthread_create(&thread, NULL, waits_for_signal, NULL);
        while (!flag) sched_yield();
        assert(!pthread_kill(thread, SIGUSR1));
        pthread_join(thread, NULL);
        assert(got == SIGUSR1 && sum == 2);
        got = 0;
        assert(!kill(getpid(), SIGUSR1) && got == SIGUSR1);
    } else if (!strcmp(kind, "sigwait")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        pthread_create(&thread, NULL, wants_signal, &set);
        pthread_kill(thread, SIGUSR2);
        pthread_join(thread, NULL);
        assert(sum == 9);
    } else if (!strcmp(kind, "cancel")) {
        pthread_create(&thread, NULL, waits_for_ever, NULL);
        assert(!pthread_cancel(thread));
        void *result;
        pthread_join(thread, &result);
        assert(result == PTHREAD_CANCELED && (sum == 100 || sum == 0));
        pthread_mutex_lock(&a);
    } else if (!strcmp(kind, "sources")) { // the same each time
        unsigned bytes[4];
        assert(getentropy(bytes, sizeof bytes) == 0);
        srand(time(NULL) + getpid() + (int)syscall(SYS_gettid));
        int device = open("/dev/urandom", O_RDONLY);
        unsigned more = 0;
        assert(read(device, &more, sizeof more) == sizeof more);
        pthread_create(&thread, NULL, adds, NULL);
        if ((bytes[0] ^ rand() ^ more) & 1) sum++;
        if ((bytes[1] ^ rand() ^ more >> 1) & 1) sum++;
        if ((bytes[2] ^ rand() ^ more >> 2) & 1) sum++;
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "random")) { // not the same: asks the kernel itself
        unsigned long number = 0, result;
        pthread_create(&thread, NULL, adds, NULL);
        __asm__ volatile("syscall" : "=a"(result) : "0"(SYS_getrandom), "D"(&number), "S"(sizeof number), "d"(0)
                         : "rcx", "r11", "memory");
        for (; number; number >>= 1) if (number & 1) sum++; else flag++;
        pthread_join(thread, NULL);
    } else if (!strcmp(kind, "timer")) { // not the same: asks the processor
        pthread_create(&thread, NULL, adds, NULL);
        for (unsigned long time = __builtin_ia32_rdtsc() >> 4; time; time >>= 1) if (time & 1) sum++; else flag++;
        pthread_join(thread, NULL);
    } else {
        return 9;
    }
    return 0;
}

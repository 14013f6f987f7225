// Signals that interrupt atomics, allocations, locks and the runtime itself; handlers do atomics too.
// Nothing hangs, nothing is lost, nothing to report (all of it is seq_cst): exit code 0.
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 30000 };

static atomic_int by_handler, by_thread, stop;
static atomic_int slots[16];
static sem_t posted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int protected_;

static void handler(int signal) {
    (void)signal;
    atomic_fetch_add(&by_handler, 1);
    atomic_store(&slots[3], 1);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_load(&slots[4]);
    sem_post(&posted);
}

static void *works(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&by_thread, 1);
        atomic_store(&slots[i % 16], i);
        int expected = i;
        atomic_compare_exchange_strong(&slots[(i + 1) % 16], &expected, i + 1);
        if (i % 8 == 0) {
            pthread_mutex_lock(&mutex);
            protected_++;
            pthread_mutex_unlock(&mutex);
            free(malloc((size_t)i % 500 + 1));
        }
    }
    return NULL;
}

static pthread_t thread[THREADS];

static void *storms(void *argument) {
    (void)argument;
    while (!atomic_load(&stop)) {
        for (int i = 0; i < THREADS; i++) pthread_kill(thread[i], SIGUSR1);
        usleep(50);
    }
    return NULL;
}

static sigjmp_buf back;
static int faults, jumps;
static atomic_int together[4];
static atomic_int jumping;

// Out of whatever was being done, atomics and what the runtime does for them included.
static void jumps_out(int signal) {
    (void)signal;
    if (atomic_load(&jumping)) siglongjmp(back, 1);
}

static void *touches(void *argument) {
    (void)argument;
    for (int i = 0; !atomic_load(&stop); i++) atomic_fetch_add(&together[i % 4], 1);
    return NULL;
}

static void jump_out_of_atomics(void) {
    struct sigaction action = {.sa_handler = jumps_out};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    atomic_store(&stop, 0);
    pthread_t other;
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    CHECK(pthread_create(&other, NULL, touches, NULL) == 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (jumps < 1000) {
        if (sigsetjmp(back, 1) == 0) {
            atomic_store(&jumping, 1);
            for (;;) {
                for (int i = 0; i < 4; i++) atomic_fetch_add(&together[i], 1);
                atomic_thread_fence(memory_order_seq_cst);
            }
        }
        atomic_store(&jumping, 0);
        jumps++;
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    atomic_store(&stop, 1);
    CHECK(pthread_join(other, NULL) == 0);
}

// Data that a handler hands on by a semaphore, the only thing that orders it.
static int handed;
static sem_t handing;

static void hands_on(int signal) {
    (void)signal;
    sem_post(&handing);
}

static void *receives(void *argument) {
    (void)argument;
    for (int i = 0; i < 500; i++) {
        while (sem_wait(&handing) != 0) {}
        CHECK(handed >= 0);
        handed = -1;
        atomic_store(&by_thread, -i);
    }
    return NULL;
}

static void hand_on(void) {
    struct sigaction action = {.sa_handler = hands_on};
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    sem_init(&handing, 0, 0);
    pthread_t other;
    atomic_store(&by_thread, 1);
    CHECK(pthread_create(&other, NULL, receives, NULL) == 0);
    for (int i = 0; i < 500; i++) {
        handed = i;
        for (int j = 0; j < i % 7; j++) atomic_fetch_add(&slots[j], 1);
        raise(SIGUSR2);
        while (atomic_load(&by_thread) != -i) atomic_fetch_add(&slots[0], 1);
    }
    pthread_join(other, NULL);
}

static void out_of_fault(int signal) {
    (void)signal;
    faults++;
    siglongjmp(back, 1);
}

static char *page;

static void repairs(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    if ((char *)info->si_addr < page || (char *)info->si_addr >= page + 4096) _exit(9);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

// A program that handles its own faults: by jumping out of them, or by mending what caused them.
static void own_handlers(void) {
    struct sigaction jump = {.sa_handler = out_of_fault}, old;
    CHECK(sigaction(SIGSEGV, &jump, &old) == 0 && old.sa_handler == SIG_DFL);
    for (int i = 0; i < 10; i++) {
        if (sigsetjmp(back, 1) == 0) {
            *(volatile int *)16 = i;
            CHECK(0);
        }
    }
    CHECK(faults == 10);
    struct sigaction mend = {.sa_sigaction = repairs, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGSEGV, &mend, &old) == 0 && old.sa_handler == out_of_fault);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    page[100] = 5;
    mprotect(page, 4096, PROT_NONE);
    atomic_store((atomic_int *)page, 7);
    CHECK(page[100] == 5 && *(int *)page == 7);
    CHECK(sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_sigaction == repairs);
    CHECK(signal(SIGSEGV, SIG_DFL) == (void (*)(int))repairs);
    CHECK(munmap(page, 4096) == 0);
}

int main(void) {
    sem_init(&posted, 0, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&thread[i], NULL, works, NULL) == 0);
    pthread_t storm;
    CHECK(pthread_create(&storm, NULL, storms, NULL) == 0);
    struct itimerval often = {{0, 200}, {0, 200}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    // Joined only after the storm: a thread that has ended can't be signalled.
    while (atomic_load(&by_thread) < THREADS * ROUNDS || atomic_load(&by_handler) < 50) usleep(1000);
    atomic_store(&stop, 1);
    pthread_join(storm, NULL);
    struct itimerval never = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    CHECK(by_thread == THREADS * ROUNDS);
    CHECK(protected_ == THREADS * ((ROUNDS + 7) / 8));
    int posts = 0;
    while (sem_trywait(&posted) == 0) posts++;
    CHECK(posts == by_handler);
    jump_out_of_atomics();
    hand_on();
    own_handlers();
    puts("signals: ok");
    return 0;
}

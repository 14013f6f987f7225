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
static int faults;

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
    while (atomic_load(&by_thread) < THREADS * ROUNDS) usleep(1000);
    atomic_store(&stop, 1);
    pthread_join(storm, NULL);
    struct itimerval never = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    CHECK(by_thread == THREADS * ROUNDS);
    CHECK(protected_ == THREADS * ((ROUNDS + 7) / 8));
    CHECK(by_handler > 0);
    int posts = 0;
    while (sem_trywait(&posted) == 0) posts++;
    CHECK(posts == by_handler);
    own_handlers();
    puts("signals: ok");
    return 0;
}

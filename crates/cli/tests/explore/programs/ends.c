// Lives that end: of stacks and frames, of objects of synchronisation, of blocks. The first argument says which.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static _Atomic(volatile int *) shown;
static atomic_int done;
static volatile int sink;

static void wait_for(atomic_int *flag, int value) {
    while (atomic_load(flag) != value) sched_yield();
}

static volatile int *see(void) {
    volatile int *seen;
    while (!(seen = atomic_load(&shown))) sched_yield();
    return seen;
}

static __attribute__((noinline)) void show_own(void) {
    volatile int local[16];
    for (int i = 0; i < 16; i++) local[i] = i;
    atomic_store(&shown, &local[3]);
}

// Shows a variable of a function that has returned.
static void *frame(void *argument) {
    show_own();
    wait_for(&done, 1);
    return argument;
}

// Ends, and its variables with it.
static void *thread(void *argument) {
    show_own();
    return argument;
}

static void *reads(void *argument) {
    sink = *(volatile int *)argument;
    atomic_store(&done, 1);
    return argument;
}

static void *reads_shown(void *argument) {
    sink = *see();
    atomic_store(&done, 1);
    return argument;
}

static void start(pthread_t *id, void *(*routine)(void *), void *argument) {
    if (pthread_create(id, NULL, routine, argument) != 0) exit(2);
}

static int is(char **arguments, const char *kind) { return strcmp(arguments[1], kind) == 0; }

static __attribute__((noinline)) void with_vla(int size) {
    pthread_t id;
    volatile int many[size];
    for (int i = 0; i < size; i++) many[i] = i;
    start(&id, reads, (void *)&many[1]);
    wait_for(&done, 1);
    pthread_join(id, NULL);
}

static jmp_buf back;
static __attribute__((noinline)) void jumps(int depth) {
    volatile int room[100];
    room[depth] = depth;
    if (depth == 0) longjmp(back, 1);
    jumps(depth - 1);
    sink = room[depth];
}

static ucontext_t outside, inside;
static char room_inside[256 << 10];
static void coroutine(void) {
    wait_for(&done, 1);
    swapcontext(&inside, &outside);
}

// As a coroutine on a part of `main`'s own stack, or as a handler that has a part of it: below lies what is in use.
static void within(int unused) {
    wait_for(&done, unused >= 0);
}
static void coroutine_within(void) { within(0); }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int ready;

static void *waits(void *argument) {
    pthread_mutex_lock(&mutex);
    atomic_store(&done, 1);
    while (!ready) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *arrives(void *argument) {
    atomic_store(&done, 1);
    pthread_barrier_wait(&barrier);
    return argument;
}

static void *takes(void *argument) {
    atomic_store(&done, 1);
    sem_wait(&semaphore);
    return argument;
}

// Others may come between what these tell and what they use after it.
static struct late {
    pthread_cond_t condition;
    sem_t semaphore;
    pthread_rwlock_t lock;
} *late;

static void *signals_late(void *argument) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&late->condition);
    return argument;
}

static void *posts_late(void *argument) {
    atomic_store(&done, 1);
    sem_post(&late->semaphore);
    return argument;
}

static void *takes_late(void *argument) {
    atomic_store(&done, 1);
    sem_trywait(&late->semaphore);
    return argument;
}

static void *reads_late(void *argument) {
    atomic_store(&done, 1);
    if (pthread_rwlock_tryrdlock(&late->lock) == 0) pthread_rwlock_unlock(&late->lock);
    return argument;
}

int main(int count, char **arguments) {
    pthread_t id;
    if (count != 2) return 2;
    if (is(arguments, "frame")) {
        start(&id, frame, NULL);
        sink = *see();
        atomic_store(&done, 1);
        pthread_join(id, NULL);
    } else if (is(arguments, "thread")) {
        start(&id, thread, NULL);
        pthread_join(id, NULL);
        sink = *atomic_load(&shown);
    } else if (is(arguments, "joined")) {
        start(&id, reads, (void *)&sink);
        pthread_join(id, NULL);
        pthread_join(id, NULL);
    } else if (is(arguments, "live")) {
        volatile int local = 1;
        start(&id, reads, (void *)&local);
        pthread_join(id, NULL);
    } else if (is(arguments, "vla")) {
        with_vla(count * 10);
    } else if (is(arguments, "lent")) {
        static char stack[256 << 10] __attribute__((aligned(4096)));
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stack, sizeof stack);
        if (pthread_create(&id, &attributes, thread, NULL) != 0) return 2;
        pthread_join(id, NULL);
        sink = *atomic_load(&shown);
    } else if (is(arguments, "jump")) {
        volatile int local = 1;
        start(&id, reads_shown, NULL);
        if (!setjmp(back)) jumps(20);
        atomic_store(&shown, &local);
        pthread_join(id, NULL);
    } else if (is(arguments, "coroutine")) {
        volatile int local = 1;
        start(&id, reads, (void *)&local);
        getcontext(&inside);
        inside.uc_stack.ss_sp = room_inside;
        inside.uc_stack.ss_size = sizeof room_inside;
        inside.uc_link = &outside;
        makecontext(&inside, coroutine, 0);
        swapcontext(&outside, &inside);
        pthread_join(id, NULL);
    } else if (is(arguments, "coroutine-within") || is(arguments, "signal-within")) {
        char room[256 << 10];
        volatile int local[2] = {1, 1};
        start(&id, reads, (void *)&local[1]);
        if (is(arguments, "signal-within")) {
            stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
            struct sigaction action = {.sa_handler = within, .sa_flags = SA_ONSTACK};
            sigaltstack(&stack, NULL);
            sigaction(SIGUSR1, &action, NULL);
            raise(SIGUSR1);
            stack.ss_flags = SS_DISABLE;
            sigaltstack(&stack, NULL);
        } else {
            getcontext(&inside);
            inside.uc_stack.ss_sp = room;
            inside.uc_stack.ss_size = sizeof room;
            inside.uc_link = &outside;
            makecontext(&inside, coroutine_within, 0);
            swapcontext(&outside, &inside);
        }
        pthread_join(id, NULL);
    } else if (is(arguments, "condition") || is(arguments, "condition-woken")) {
        start(&id, waits, NULL);
        wait_for(&done, 1);
        pthread_mutex_lock(&mutex);
        ready = 1;
        if (is(arguments, "condition-woken")) pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
        pthread_cond_destroy(&condition);
        if (is(arguments, "condition-woken")) pthread_join(id, NULL);
    } else if (is(arguments, "condition-gone")) {
        pthread_cond_destroy(&condition);
        pthread_cond_signal(&condition);
    } else if (is(arguments, "barrier")) {
        pthread_barrier_init(&barrier, NULL, 2);
        start(&id, arrives, NULL);
        wait_for(&done, 1);
        pthread_barrier_destroy(&barrier);
    } else if (is(arguments, "barrier-unmade")) {
        pthread_barrier_wait(&barrier);
    } else if (is(arguments, "barrier-passed")) {
        pthread_barrier_init(&barrier, NULL, 2);
        start(&id, arrives, NULL);
        pthread_barrier_wait(&barrier);
        pthread_barrier_destroy(&barrier);
        pthread_join(id, NULL);
    } else if (is(arguments, "rwlock")) {
        pthread_rwlock_rdlock(&lock);
        pthread_rwlock_destroy(&lock);
    } else if (is(arguments, "rwlock-gone")) {
        pthread_rwlock_destroy(&lock);
        pthread_rwlock_wrlock(&lock);
    } else if (is(arguments, "rwlock-again")) {
        pthread_rwlock_destroy(&lock);
        memset(&lock, 0, sizeof lock);
        pthread_rwlock_wrlock(&lock);
        pthread_rwlock_unlock(&lock);
    } else if (is(arguments, "semaphore")) {
        sem_init(&semaphore, 0, 0);
        start(&id, takes, NULL);
        wait_for(&done, 1);
        sem_destroy(&semaphore);
        sem_post(&semaphore);
        pthread_join(id, NULL);
    } else if (is(arguments, "semaphore-gone")) {
        sem_init(&semaphore, 0, 0);
        sem_destroy(&semaphore);
        sem_post(&semaphore);
    } else if (is(arguments, "not-locked")) {
        pthread_mutex_unlock(&mutex);
    } else if (is(arguments, "double-free")) {
        void *volatile block = malloc(100);
        free(block);
        free(block);
    } else if (is(arguments, "free-stack")) {
        char local[64];
        char *volatile inner = local + 16;
        free(inner);
    } else if (is(arguments, "free-variable")) {
        static char global[64];
        char *volatile inner = global + 16;
        free(inner);
    } else if (is(arguments, "realloc-freed")) {
        void *volatile block = malloc(100);
        free(block);
        block = realloc(block, 1000);
        free(block);
    } else if (is(arguments, "realloc-old")) {
        volatile int *block = malloc(100), *old = block;
        block[1] = 1;
        block = realloc((void *)block, 1000);
        sink = old[1] + block[1];
        free((void *)block);
    } else if (is(arguments, "string")) {
        char *volatile block = malloc(100);
        strcpy(block, "text");
        free(block);
        sink = (int)strlen(block);
    } else if (is(arguments, "wait-not-locked")) {
        struct timespec soon = {1, 0};
        pthread_cond_timedwait(&condition, &mutex, &soon);
    } else if (strstr(arguments[1], "-late")) {
        late = malloc(sizeof *late);
        pthread_cond_init(&late->condition, NULL);
        sem_init(&late->semaphore, 0, 1);
        pthread_rwlock_init(&late->lock, NULL);
        if (is(arguments, "signal-late")) {
            start(&id, signals_late, NULL);
            pthread_mutex_lock(&mutex);
            while (!ready) pthread_cond_wait(&late->condition, &mutex);
            pthread_mutex_unlock(&mutex);
        } else {
            start(&id, is(arguments, "post-late") ? posts_late : is(arguments, "take-late") ? takes_late : reads_late, NULL);
            wait_for(&done, 1);
        }
        free(late);
        pthread_join(id, NULL);
    } else {
        return 2;
    }
    return 0;
}

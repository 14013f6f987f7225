// Atomics wherever memory can come from: at the same address in every execution of a schedule, whatever the tool itself
// maps in the meantime (a stale access is found in some executions and not in others).
#define _GNU_SOURCE
#include <alloca.h>
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };
static const char *kind;
static _Atomic(atomic_int *) cells[2];
static atomic_int seen;

static int is(const char *other) { return !strcmp(kind, other); }

static void *mapped(int how) {
    void *at = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);
    assert(at != MAP_FAILED);
    return at;
}

static atomic_int *block(void) {
    void *at = NULL;
    if (is("malloc") || is("exit") || is("library")) at = malloc(LARGE);
    if (is("small")) at = malloc(64);
    if (is("aligned")) at = aligned_alloc(1 << 16, LARGE);
    if (is("memalign")) assert(!posix_memalign(&at, 4096, LARGE));
    if (is("realloc")) at = realloc(malloc(LARGE), 4 * LARGE);
    if (is("mmap")) at = mapped(MAP_PRIVATE);
    if (is("shared")) at = mapped(MAP_SHARED);
    if (is("mremap")) at = mremap(mapped(MAP_PRIVATE), LARGE, 8 * LARGE, MREMAP_MAYMOVE);
    if (is("sbrk")) at = sbrk(LARGE);
    if (is("shmat")) {
        int segment = shmget(IPC_PRIVATE, LARGE, 0600);
        at = shmat(segment, NULL, 0);
        shmctl(segment, IPC_RMID, NULL);
    }
    assert(at && at != MAP_FAILED);
    return memset(at, 0, sizeof(atomic_int));
}

static void look(atomic_int *own, int me) {
    atomic_store_explicit(own, 1, memory_order_relaxed);
    atomic_store_explicit(&cells[me], own, memory_order_release);
    atomic_int *other = atomic_load_explicit(&cells[!me], memory_order_acquire);
    if (other) atomic_fetch_add(&seen, atomic_load_explicit(other, memory_order_relaxed));
}

static void *body(void *me) {
    if (is("library")) assert(dlopen("libstdc++.so.6", RTLD_NOW)); // maps a library, and its memory
    if (is("stack")) {
        atomic_int own = 0;
        look(&own, me != NULL);
        atomic_fetch_add(&seen, 16);
        while (atomic_load(&seen) % 64 < 32) sched_yield(); // stays until both have looked
    } else {
        look(block(), me != NULL);
    }
    if (is("exit")) pthread_exit(NULL); // unwinds the stack, by a library that is loaded then
    return NULL;
}

int main(int count, char **arguments) {
    kind = count > 1 ? arguments[1] : "";
    for (int round = 0; round < 2; round++) {
        pthread_t one, two;
        atomic_store(&cells[0], NULL);
        atomic_store(&cells[1], NULL);
        atomic_store(&seen, 0);
        pthread_create(&one, NULL, body, NULL);
        pthread_create(&two, NULL, body, &kind);
        pthread_join(one, NULL);
        pthread_join(two, NULL);
    }
    return 0;
}

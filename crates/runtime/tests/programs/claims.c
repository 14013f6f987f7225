// What headers tell race detectors: each argument names a claim that silences one race, and its opposite, which doesn't:
// NAME exits with 0, "not-NAME" prints exactly one race and exits with code 66.
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define CLAIM(name, ...) void Annotate##name(const char *, int, ##__VA_ARGS__)
#define SAY(name, ...) Annotate##name(__FILE__, __LINE__, ##__VA_ARGS__)
CLAIM(HappensBefore, const volatile void *);
CLAIM(HappensAfter, const volatile void *);
CLAIM(IgnoreReadsBegin);
CLAIM(IgnoreReadsEnd);
CLAIM(IgnoreWritesBegin);
CLAIM(IgnoreWritesEnd);
CLAIM(IgnoreSyncBegin);
CLAIM(IgnoreSyncEnd);
CLAIM(BenignRaceSized, const volatile void *, size_t, const char *);
CLAIM(NewMemory, const volatile void *, size_t);
CLAIM(RWLockCreate, const volatile void *);
CLAIM(RWLockDestroy, const volatile void *);
CLAIM(RWLockAcquired, const volatile void *, int);
CLAIM(RWLockReleased, const volatile void *, int);
CLAIM(FlushState);
CLAIM(ThreadName, const char *);
CLAIM(EnableRaceDetection, int);
CLAIM(MutexIsUsedAsCondVar, const volatile void *);
CLAIM(CondVarSignal, const volatile void *);
CLAIM(PublishMemoryRange, const volatile void *, size_t);
int RunningOnValgrind(void);
double ValgrindSlowdown(void);
void __tsan_acquire(void *);
void __tsan_release(void *);
void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void *);
void __tsan_switch_to_fiber(void *, unsigned);

static const char *kind;
static int honest; // the claims are made
static int shared, other, flag, lock;
static void *fiber;

static int is(const char *name) { return !strcmp(kind, name); }
static void step(void) { __atomic_fetch_add(&flag, 1, __ATOMIC_RELAXED); }
static void after_step(void) { while (!__atomic_load_n(&flag, __ATOMIC_RELAXED)) usleep(100); }

static void *first(void *unused) {
    (void)unused;
    int *at = honest ? &shared : &other; // what is claimed, or something else
    if (is("ignore-writes")) SAY(IgnoreWritesBegin), (honest ? (void)0 : SAY(IgnoreWritesEnd));
    if (is("ignore-sync")) SAY(IgnoreSyncBegin);
    if (is("rwlock")) SAY(RWLockCreate, &lock), SAY(RWLockAcquired, &lock, honest);
    if (is("mutex")) __tsan_mutex_create(&lock, 0), __tsan_mutex_pre_lock(&lock, 0), __tsan_mutex_post_lock(&lock, 0, 0);
    if (is("benign")) SAY(BenignRaceSized, at, sizeof *at, "it is harmless");
    if (is("fiber")) __tsan_switch_to_fiber(fiber, 0);
    shared = 1;
    if (is("hb")) SAY(HappensBefore, at);
    if (is("release")) __tsan_release(at);
    if (is("rwlock")) SAY(RWLockReleased, &lock, honest);
    if (is("mutex")) (void)__tsan_mutex_pre_unlock(&lock, 0), __tsan_mutex_post_unlock(&lock, 0);
    if (is("ignore-writes") && honest) SAY(IgnoreWritesEnd);
    if (is("ignore-sync")) SAY(IgnoreSyncEnd);
    if (is("fiber")) __tsan_switch_to_fiber(__tsan_create_fiber(0), 0);
    step();
    return NULL;
}

int main(int count, char **arguments) {
    kind = count > 1 ? arguments[1] : "none";
    honest = strncmp(kind, "not-", 4) != 0;
    if (!honest) kind += 4;
    CHECK(!RunningOnValgrind() && ValgrindSlowdown() > 0);
    SAY(ThreadName, "main"), SAY(FlushState), SAY(EnableRaceDetection, 1), SAY(MutexIsUsedAsCondVar, &lock);
    SAY(CondVarSignal, &lock), SAY(PublishMemoryRange, &shared, sizeof shared);
    CHECK(__tsan_get_current_fiber() == __tsan_get_current_fiber());
    fiber = __tsan_create_fiber(0);
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    after_step();
    if (is("hb")) SAY(HappensAfter, &shared);
    if (is("release")) __tsan_acquire(&shared);
    if (is("new") && honest) SAY(NewMemory, &shared, sizeof shared);
    if (is("ignore-reads")) SAY(IgnoreReadsBegin), (honest ? (void)0 : SAY(IgnoreReadsEnd));
    if (is("rwlock")) SAY(RWLockAcquired, &lock, 0);
    if (is("mutex")) __tsan_mutex_pre_lock(&lock, 0), __tsan_mutex_post_lock(honest ? &lock : &other, 0, 0);
    if (is("fiber") && honest) __tsan_switch_to_fiber(fiber, 0);
    volatile int seen = shared; // races with the write
    (void)seen;
    if (is("ignore-reads") && honest) SAY(IgnoreReadsEnd);
    if (is("rwlock")) SAY(RWLockReleased, &lock, 0), SAY(RWLockDestroy, &lock);
    pthread_join(thread, NULL);
    return 0;
}

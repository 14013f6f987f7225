// seqcst.h, from C and C++, with the runtime and without: it does what it says.
// A spin lock and a hand-over by turns, annotated: robust, nothing to report, exit code 0.
#include "check.h"
#include "seqcst.h"
#include <pthread.h>
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> Int;
typedef std::atomic<char> Char;
typedef std::atomic<short> Short;
typedef std::atomic<int *> Pointer;
#define STORE(at, value) (at).store(value, std::memory_order_release)
#else
#include <stdatomic.h>
typedef atomic_int Int;
typedef atomic_char Char;
typedef atomic_short Short;
typedef _Atomic(int *) Pointer;
#define STORE(at, value) atomic_store_explicit(&(at), value, memory_order_release)
#endif

enum { ROUNDS = 2000 };

static Int turn;
static Char lock;
static Short state;
static Pointer handed;
static unsigned long plain;
static int data, counted;

static void *second(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        SEQCST_WAIT(&turn, 1, __ATOMIC_ACQUIRE);
        data++;
        STORE(turn, 0);
        SEQCST_BCAS(&lock, 0, 1, __ATOMIC_ACQUIRE);
        counted++;
        STORE(lock, 0);
    }
    SEQCST_WAIT(&handed, &data, __ATOMIC_ACQUIRE);
    STORE(state, -5);
    return NULL;
}

int main(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, second, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        SEQCST_WAIT(&turn, 0, __ATOMIC_ACQUIRE);
        data++;
        STORE(turn, 1);
        SEQCST_BCAS(&lock, 0, 1, __ATOMIC_ACQUIRE);
        counted++;
        STORE(lock, 0);
    }
    SEQCST_WAIT(&turn, 0, __ATOMIC_ACQUIRE);
    CHECK(data == 2 * ROUNDS);
    STORE(handed, &data);
    SEQCST_WAIT(&state, -5, __ATOMIC_ACQUIRE);
    pthread_join(thread, NULL);
    CHECK(counted == 2 * ROUNDS);
    short expected = 3;
    CHECK(!SEQCST_CAS(&state, &expected, 4, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) && expected == -5);
    CHECK(SEQCST_CAS(&state, &expected, 4, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) && expected == -5);
    SEQCST_WAIT(&state, 4, __ATOMIC_RELAXED);
    unsigned long none = 0;
    CHECK(SEQCST_CAS(&plain, &none, ~0ul, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && plain == ~0ul);
    puts("annotations: ok");
    return 0;
}

/* Annotations for seqcst. None is ever required.
 *
 * They say what instrumentation can't see: that a loop does nothing but wait, or that a compare-and-swap is a strong one.
 * Then seqcst looks at the values that stale reads could return, and doesn't report what merely makes a thread wait
 * longer. In a program that is built without seqcst they are what they look like: loops over C11's atomics.
 *
 *   SEQCST_WAIT(pointer, value, order)                 waits until *pointer == value
 *   SEQCST_BCAS(pointer, old, new_, order)             waits until *pointer == old, and writes new_ there atomically
 *   SEQCST_CAS(pointer, expected, new_, order, failure)
 *                                                      strong compare-and-swap: true if *pointer was *expected, which
 *                                                      else becomes what was found
 *
 * Pointers are to atomics (C11, C++, or plain variables used with __atomic built-ins) of 1, 2, 4 or 8 bytes; orders are
 * C11's numbers (__ATOMIC_ACQUIRE and so on; memory_order_acquire in C; in C++ the __ATOMIC names).
 *
 *   SEQCST_WAIT(&turn, me, __ATOMIC_ACQUIRE);          while (atomic_load(&turn) != me) {}
 *   SEQCST_BCAS(&lock, 0, 1, __ATOMIC_ACQUIRE);        a spin lock
 */
#ifndef SEQCST_H
#define SEQCST_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#define SEQCST_PAUSE_() __builtin_ia32_pause()
#else
#define SEQCST_PAUSE_() ((void)0)
#endif

#ifdef __cplusplus
#define SEQCST_LINKAGE_ extern "C"
#define SEQCST_CAST_(type, pointer) reinterpret_cast<type>(const_cast<void *>(static_cast<const volatile void *>(pointer)))
#else
#include <stdbool.h>
#define SEQCST_LINKAGE_ extern
#define SEQCST_CAST_(type, pointer) ((type)(void *)(pointer))
#endif

/* One set of functions per size. Those of the runtime are there only if the program is linked with it. */
#define SEQCST_FUNCTIONS_(bits)                                                                                          \
    SEQCST_LINKAGE_ __attribute__((weak)) void seqcst_wait##bits(uint##bits##_t *, uint##bits##_t, int);                 \
    SEQCST_LINKAGE_ __attribute__((weak)) void seqcst_bcas##bits(uint##bits##_t *, uint##bits##_t, uint##bits##_t, int); \
    SEQCST_LINKAGE_ __attribute__((weak)) bool seqcst_cas##bits(uint##bits##_t *, uint##bits##_t *, uint##bits##_t, int, \
                                                                int);                                                   \
                                                                                                                        \
    static inline __attribute__((unused)) void seqcst_wait_u##bits(uint##bits##_t *at, uint##bits##_t value, int order) { \
        if (seqcst_wait##bits) {                                                                                        \
            seqcst_wait##bits(at, value, order);                                                                        \
        } else {                                                                                                        \
            while (__atomic_load_n(at, order) != value) SEQCST_PAUSE_();                                                \
        }                                                                                                               \
    }                                                                                                                   \
                                                                                                                        \
    static inline __attribute__((unused)) void seqcst_bcas_u##bits(uint##bits##_t *at, uint##bits##_t old,              \
                                                                   uint##bits##_t new_, int order) {                    \
        if (seqcst_bcas##bits) {                                                                                        \
            seqcst_bcas##bits(at, old, new_, order);                                                                    \
        } else {                                                                                                        \
            uint##bits##_t found = old;                                                                                 \
            while (!__atomic_compare_exchange_n(at, &found, new_, false, order, __ATOMIC_RELAXED)) {                    \
                found = old;                                                                                            \
                SEQCST_PAUSE_();                                                                                        \
            }                                                                                                           \
        }                                                                                                               \
    }                                                                                                                   \
                                                                                                                        \
    static inline __attribute__((unused)) bool seqcst_cas_u##bits(uint##bits##_t *at, uint##bits##_t *expected,         \
                                                                  uint##bits##_t new_, int order, int failure) {        \
        if (seqcst_cas##bits) {                                                                                         \
            return seqcst_cas##bits(at, expected, new_, order, failure);                                                \
        }                                                                                                               \
        return __atomic_compare_exchange_n(at, expected, new_, false, order, failure);                                  \
    }

SEQCST_FUNCTIONS_(8)
SEQCST_FUNCTIONS_(16)
SEQCST_FUNCTIONS_(32)
SEQCST_FUNCTIONS_(64)

/* Chooses by size. Values may be numbers or pointers. */
#define SEQCST_VALUE_(bits, value) ((uint##bits##_t)(uintptr_t)(value))
#define SEQCST_AT_(bits, pointer) SEQCST_CAST_(uint##bits##_t *, pointer)
#define SEQCST_WAIT_(bits, pointer, value, order)                                                                       \
    seqcst_wait_u##bits(SEQCST_AT_(bits, pointer), SEQCST_VALUE_(bits, value), order)
#define SEQCST_BCAS_(bits, pointer, old, new_, order)                                                                   \
    seqcst_bcas_u##bits(SEQCST_AT_(bits, pointer), SEQCST_VALUE_(bits, old), SEQCST_VALUE_(bits, new_), order)
#define SEQCST_CAS_(bits, pointer, expected, new_, order, failure)                                                      \
    seqcst_cas_u##bits(SEQCST_AT_(bits, pointer), SEQCST_AT_(bits, expected), SEQCST_VALUE_(bits, new_), order, failure)
#define SEQCST_BY_SIZE_(macro, pointer, ...)                                                                            \
    (sizeof(*(pointer)) == 1   ? macro(8, pointer, __VA_ARGS__)                                                         \
     : sizeof(*(pointer)) == 2 ? macro(16, pointer, __VA_ARGS__)                                                        \
     : sizeof(*(pointer)) == 4 ? macro(32, pointer, __VA_ARGS__)                                                        \
                               : macro(64, pointer, __VA_ARGS__))

#define SEQCST_WAIT(pointer, value, order) SEQCST_BY_SIZE_(SEQCST_WAIT_, pointer, value, order)
#define SEQCST_BCAS(pointer, old, new_, order) SEQCST_BY_SIZE_(SEQCST_BCAS_, pointer, old, new_, order)
#define SEQCST_CAS(pointer, expected, new_, order, failure)                                                             \
    SEQCST_BY_SIZE_(SEQCST_CAS_, pointer, expected, new_, order, failure)

#endif

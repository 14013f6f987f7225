// Concurrency Kit's primitives as C11 has them, in place of its inline assembly, which no instrumentation sees. Accesses are relaxed.
// Fences are as strong as those of its port to AArch64: `dmb ishld` is an acquire fence, `dmb ishst` a release fence, `dmb ish` an
// SC fence.
#ifndef STUDY_CK_PR_H
#define STUDY_CK_PR_H

#include <ck_cc.h>
#include <ck_md.h>
#include <ck_stdbool.h>
#include <ck_stdint.h>

// In place of the port for gcc.
#define CK_USE_CC_BUILTINS 1
#define CK_PR_GCC_H
#define CK_F_PR
#include <gcc/ck_f_pr.h>

CK_CC_INLINE static void ck_pr_barrier(void) { __asm__ __volatile__("" ::: "memory"); }
CK_CC_INLINE static void ck_pr_stall(void) { __builtin_ia32_pause(); }

#define FENCE(name, order) \
    CK_CC_INLINE static void ck_pr_fence_strict_##name(void) { __atomic_thread_fence(order); }
FENCE(atomic, __ATOMIC_RELEASE)
FENCE(atomic_store, __ATOMIC_RELEASE)
FENCE(atomic_load, __ATOMIC_SEQ_CST)
FENCE(store_atomic, __ATOMIC_RELEASE)
FENCE(load_atomic, __ATOMIC_SEQ_CST)
FENCE(store, __ATOMIC_RELEASE)
FENCE(store_load, __ATOMIC_SEQ_CST)
FENCE(load, __ATOMIC_ACQUIRE)
FENCE(load_store, __ATOMIC_SEQ_CST)
FENCE(memory, __ATOMIC_SEQ_CST)
FENCE(acquire, __ATOMIC_SEQ_CST)
FENCE(release, __ATOMIC_SEQ_CST)
FENCE(acqrel, __ATOMIC_SEQ_CST)
FENCE(lock, __ATOMIC_SEQ_CST)
FENCE(unlock, __ATOMIC_SEQ_CST)
#undef FENCE

#define BINARY(op, S, M, T, V) \
    CK_CC_INLINE static void ck_pr_##op##_##S(M *target, T d) { __atomic_fetch_##op((V *)target, (V)d, __ATOMIC_RELAXED); }
// S: name, M: what is pointed to in the interface, T: the type in the interface, V: an integer of that size.
#define ALL(S, M, T, V) \
    CK_CC_INLINE static T ck_pr_md_load_##S(const M *target) { return (T)__atomic_load_n((const V *)target, __ATOMIC_RELAXED); } \
    CK_CC_INLINE static bool ck_pr_cas_##S##_value(M *target, T compare, T set, M *value) { \
        V expected = (V)compare; \
        bool done = __atomic_compare_exchange_n((V *)target, &expected, (V)set, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        *(T *)value = (T)expected; \
        return done; \
    } \
    CK_CC_INLINE static bool ck_pr_cas_##S(M *target, T compare, T set) { \
        V expected = (V)compare; \
        return __atomic_compare_exchange_n((V *)target, &expected, (V)set, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    } \
    CK_CC_INLINE static T ck_pr_faa_##S(M *target, T d) { return (T)__atomic_fetch_add((V *)target, (V)d, __ATOMIC_RELAXED); } \
    CK_CC_INLINE static T ck_pr_fas_##S(M *target, T v) { return (T)__atomic_exchange_n((V *)target, (V)v, __ATOMIC_RELAXED); } \
    CK_CC_INLINE static void ck_pr_inc_##S(M *target) { __atomic_fetch_add((V *)target, 1, __ATOMIC_RELAXED); } \
    CK_CC_INLINE static void ck_pr_dec_##S(M *target) { __atomic_fetch_sub((V *)target, 1, __ATOMIC_RELAXED); } \
    BINARY(add, S, M, T, V) BINARY(sub, S, M, T, V) BINARY(and, S, M, T, V) BINARY(or, S, M, T, V) BINARY(xor, S, M, T, V)
#define STORE(S, M, T, V) \
    CK_CC_INLINE static void ck_pr_md_store_##S(M *target, T v) { __atomic_store_n((V *)target, (V)v, __ATOMIC_RELAXED); }

ALL(ptr, void, void *, uintptr_t)
STORE(ptr, void, const void *, uintptr_t)
#define SAME(S, T) ALL(S, T, T, T) STORE(S, T, T, T)
SAME(char, char)
SAME(int, int)
SAME(uint, unsigned int)
SAME(64, uint64_t)
SAME(32, uint32_t)
SAME(16, uint16_t)
SAME(8, uint8_t)
#undef SAME
#undef STORE
#undef ALL
#undef BINARY

// The exchange above is not in the list of the port for gcc.
#define CK_F_PR_FAS_PTR
#define CK_F_PR_FAS_CHAR
#define CK_F_PR_FAS_INT
#define CK_F_PR_FAS_UINT
#define CK_F_PR_FAS_64
#define CK_F_PR_FAS_32
#define CK_F_PR_FAS_16
#define CK_F_PR_FAS_8

#include_next <ck_pr.h>
#endif

// liburcu's atomic operations as C11 has them. By its documentation, those that return a value are full barriers, and the others none.
#pragma once

#include <urcu/compiler.h>
#include <urcu/system.h>

#define UATOMIC_HAS_ATOMIC_BYTE
#define UATOMIC_HAS_ATOMIC_SHORT
#define UATOMIC_HAS_ATOMIC_INT
#define UATOMIC_HAS_ATOMIC_LLONG

#define UATOMIC_FULL(access) \
    __extension__({ __atomic_thread_fence(__ATOMIC_SEQ_CST); __auto_type _r = (access); __atomic_thread_fence(__ATOMIC_SEQ_CST); _r; })

#define uatomic_read(addr) __atomic_load_n(addr, __ATOMIC_RELAXED)
#define uatomic_set(addr, v) __atomic_store_n(addr, v, __ATOMIC_RELAXED)
#define uatomic_xchg(addr, v) \
    UATOMIC_FULL(__extension__({ __typeof__(*(addr)) _v = (__typeof__(*(addr)))(v); __atomic_exchange_n(addr, _v, __ATOMIC_RELAXED); }))
#define uatomic_cmpxchg(addr, old, new_) \
    UATOMIC_FULL(__extension__({ \
        __typeof__(*(addr)) _o = (__typeof__(*(addr)))(old), _n = (__typeof__(*(addr)))(new_); \
        __atomic_compare_exchange_n(addr, &_o, _n, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        _o; \
    }))
#define uatomic_add_return(addr, v) UATOMIC_FULL(__atomic_add_fetch(addr, v, __ATOMIC_RELAXED))
#define uatomic_sub_return(addr, v) UATOMIC_FULL(__atomic_sub_fetch(addr, v, __ATOMIC_RELAXED))
#define uatomic_add(addr, v) ((void)__atomic_fetch_add(addr, v, __ATOMIC_RELAXED))
#define uatomic_sub(addr, v) ((void)__atomic_fetch_sub(addr, v, __ATOMIC_RELAXED))
#define uatomic_and(addr, v) ((void)__atomic_fetch_and(addr, v, __ATOMIC_RELAXED))
#define uatomic_or(addr, v) ((void)__atomic_fetch_or(addr, v, __ATOMIC_RELAXED))
#define uatomic_inc(addr) uatomic_add(addr, 1)
#define uatomic_dec(addr) uatomic_sub(addr, 1)
#define cmm_smp_mb__before_uatomic_and() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_and() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_or() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_or() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_add() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_add() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_sub() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_sub() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_inc() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_inc() cmm_smp_mb()
#define cmm_smp_mb__before_uatomic_dec() cmm_smp_mb()
#define cmm_smp_mb__after_uatomic_dec() cmm_smp_mb()

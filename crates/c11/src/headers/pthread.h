#ifndef SEQCST_PTHREAD_H
#define SEQCST_PTHREAD_H
#include <time.h>
typedef unsigned long pthread_t;
typedef struct { int seqcst; } pthread_attr_t, pthread_mutex_t, pthread_mutexattr_t, pthread_cond_t, pthread_condattr_t,
    pthread_rwlock_t, pthread_rwlockattr_t, pthread_barrier_t, pthread_barrierattr_t, pthread_once_t;
typedef unsigned pthread_key_t;
typedef int pthread_spinlock_t;
#define PTHREAD_MUTEX_INITIALIZER { 0 }
#define PTHREAD_COND_INITIALIZER { 0 }
#define PTHREAD_RWLOCK_INITIALIZER { 0 }
#define PTHREAD_ONCE_INIT { 0 }
#endif

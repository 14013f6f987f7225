#ifndef SEQCST_THREADS_H
#define SEQCST_THREADS_H
#include <time.h>
typedef unsigned long thrd_t;
typedef int (*thrd_start_t)(void *);
typedef struct { int seqcst; } mtx_t, cnd_t, once_flag;
typedef unsigned tss_t;
enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };
enum { mtx_plain, mtx_recursive, mtx_timed };
#define ONCE_FLAG_INIT { 0 }
#define thread_local _Thread_local
#endif

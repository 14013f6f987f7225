/* For clients; a library's locks are its own. */
#ifndef SEQCST_THREADS_H
#define SEQCST_THREADS_H
typedef unsigned long thrd_t;
typedef int (*thrd_start_t)(void *);
int thrd_create(thrd_t *, thrd_start_t, void *);
int thrd_join(thrd_t, int *);
void thrd_yield(void);
#endif

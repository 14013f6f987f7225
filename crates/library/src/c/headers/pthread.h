/* For clients; a library's locks are its own. */
#ifndef SEQCST_PTHREAD_H
#define SEQCST_PTHREAD_H
#include <stddef.h>
typedef unsigned long pthread_t;
typedef struct seqcst_attributes pthread_attr_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
#endif

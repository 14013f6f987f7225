#ifndef SEQCST_SEMAPHORE_H
#define SEQCST_SEMAPHORE_H
typedef struct { int seqcst; } sem_t;
#endif

#ifndef SEQCST_UNISTD_H
#define SEQCST_UNISTD_H
#include <stddef.h>
typedef long ssize_t;
typedef int pid_t;
#endif

#ifndef SEQCST_STDIO_H
#define SEQCST_STDIO_H
#include <stddef.h>
typedef struct seqcst_file FILE;
#define EOF (-1)
#endif

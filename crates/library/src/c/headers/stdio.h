/* For clients; libraries can't print. */
#ifndef SEQCST_STDIO_H
#define SEQCST_STDIO_H
#include <stddef.h>
typedef struct seqcst_file FILE;
int printf(const char *, ...);
int puts(const char *);
#endif

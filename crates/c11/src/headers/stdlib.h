/* malloc, calloc and free are known to the reader by name. */
#ifndef SEQCST_STDLIB_H
#define SEQCST_STDLIB_H
#include <stddef.h>
#endif

/* None of its functions is known to the reader. */
#ifndef SEQCST_STRING_H
#define SEQCST_STRING_H
#include <stddef.h>
#endif

#ifndef SEQCST_STRING_H
#define SEQCST_STRING_H
#include <stddef.h>
#endif

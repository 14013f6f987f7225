#ifndef SEQCST_STDARG_H
#define SEQCST_STDARG_H
typedef __builtin_va_list va_list;
#endif

#ifndef SEQCST_STDDEF_H
#define SEQCST_STDDEF_H
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef int wchar_t;
#define NULL ((void *)0)
#endif

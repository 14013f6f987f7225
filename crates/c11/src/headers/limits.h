#ifndef SEQCST_LIMITS_H
#define SEQCST_LIMITS_H
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807 - 1)
#define LONG_MAX 9223372036854775807
#define LLONG_MIN LONG_MIN
#define LLONG_MAX LONG_MAX
/* Integers have no bounds in the analysis: the greatest unsigned number is the one that is all ones. */
#define ULONG_MAX (~0ul)
#define ULLONG_MAX (~0ul)
#endif

#ifndef SEQCST_STDINT_H
#define SEQCST_STDINT_H
typedef signed char int8_t, int_least8_t;
typedef unsigned char uint8_t, uint_least8_t;
typedef short int16_t, int_least16_t;
typedef unsigned short uint16_t, uint_least16_t;
typedef int int32_t, int_least32_t;
typedef unsigned uint32_t, uint_least32_t;
typedef long int64_t, int_least64_t, intptr_t, intmax_t;
typedef unsigned long uint64_t, uint_least64_t, uintptr_t, uintmax_t;
typedef signed char int_fast8_t;
typedef unsigned char uint_fast8_t;
typedef long int_fast16_t, int_fast32_t, int_fast64_t;
typedef unsigned long uint_fast16_t, uint_fast32_t, uint_fast64_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807 - 1)
#define INT64_MAX 9223372036854775807
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define UINT64_MAX 18446744073709551615ul
#define UINTPTR_MAX 18446744073709551615ul
#define SIZE_MAX 18446744073709551615ul
#endif

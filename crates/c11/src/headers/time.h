#ifndef SEQCST_TIME_H
#define SEQCST_TIME_H
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm;
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#endif

// liburcu's barriers as C11 has them, in place of inline assembly, which no instrumentation sees.
#pragma once

#define cmm_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define cmm_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define cmm_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define caa_cpu_relax() __builtin_ia32_pause()

#include <urcu/compiler.h>
#include <urcu/config.h>
#include <urcu/arch/generic.h>

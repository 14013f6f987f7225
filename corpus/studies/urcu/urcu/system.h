// liburcu's shared accesses as relaxed ones, in place of volatile ones.
#pragma once

#include <urcu/arch.h>
#include <urcu/compiler.h>

#define _CMM_LOAD_SHARED(p) __atomic_load_n(&(p), __ATOMIC_RELAXED)
#define CMM_LOAD_SHARED(p) _CMM_LOAD_SHARED(p)
#define _CMM_STORE_SHARED(x, v) __extension__({ __typeof__(x) _w = (v); __atomic_store_n(&(x), _w, __ATOMIC_RELAXED); _w; })
#define CMM_STORE_SHARED(x, v) _CMM_STORE_SHARED(x, v)

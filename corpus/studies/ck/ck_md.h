// What Concurrency Kit's configure script finds out, for a machine with C11's memory model: nothing is in order by itself.
#pragma once

#define CK_MD_RMO
#define CK_MD_CACHELINE (64)
#define CK_MD_PAGESIZE (4096)
#define CK_MD_VMA_BITS 48ULL
#define CK_MD_RTM_DISABLE
#define CK_MD_LSE_DISABLE
#define CK_MD_POINTER_PACK_DISABLE
#define CK_MD_SSE_DISABLE
#define CK_MD_PPC32_LWSYNC_DISABLE
#define CK_PR_DISABLE_DOUBLE
#define CK_VERSION "0.7.1"
#define CK_GIT_SHA ""

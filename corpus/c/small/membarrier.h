// A fence in every thread of the process (membarrier(2)).
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline long membarrier(int command) {
    return syscall(SYS_membarrier, command, 0, 0);
}

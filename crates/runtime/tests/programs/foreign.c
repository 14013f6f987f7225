// Threads that libc makes by itself, thousands of them: for timers. What was written before the timer was set is known
// to them. Nothing to report, no slots used up, exit code 0.
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { ALL = 2000 };

static int data;
static atomic_int fired;

static void fires(union sigval value) {
    CHECK(data == 5 && value.sival_int == 7);
    atomic_fetch_add_explicit(&fired, 1, memory_order_release);
}

int main(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = fires, .sigev_value.sival_int = 7};
    timer_t timer;
    data = 5;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    struct itimerspec often = {{0, 100000}, {0, 100000}}, never = {{0, 0}, {0, 0}};
    CHECK(timer_settime(timer, 0, &often, NULL) == 0);
    while (atomic_load_explicit(&fired, memory_order_acquire) < ALL) usleep(1000);
    CHECK(timer_settime(timer, 0, &never, NULL) == 0);
    puts("foreign: ok");
    return 0;
}

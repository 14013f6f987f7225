// An instrumented library, loaded and unloaded again and again while threads come and go: nothing to report.
// The first argument is the library: this file once more, with -DLIBRARY.
#define _GNU_SOURCE
#include <stdatomic.h>
#ifdef LIBRARY
static int plain = 1, table[5000];
static atomic_int counter;

__attribute__((constructor)) static void arrives(void) { plain = 2; }

int work(int add) {
    plain += add;
    for (int i = 0; i < 5000; i++) table[i] += add;
    return atomic_fetch_add_explicit(&counter, add, memory_order_relaxed) + plain;
}
#else
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static const char *path;
static atomic_int done;

static void *loads(void *argument) {
    (void)argument;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    int (*work)(int) = (int (*)(int))dlsym(library, "work");
    CHECK(work && work(3) == 5);
    CHECK(dlclose(library) == 0);
    atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    path = argv[1];
    for (int i = 0; i < 50; i++) {
        // Detached and waited for without ordering: what one did to the library's data isn't ordered before the next.
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, loads, NULL) == 0);
        CHECK(pthread_detach(thread) == 0);
        while (atomic_load_explicit(&done, memory_order_relaxed) <= i) usleep(200);
    }
    puts("library: ok");
    return 0;
}
#endif

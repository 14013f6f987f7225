// A data race in iterations that fail.
#include <stdatomic.h>
//@ one-thread: put
int data;
_Atomic int flag;
void put(void) {
    data = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
}
void get(void) {
    int t = 0;
    while (atomic_load_explicit(&flag, memory_order_acquire) == 0) { t = data; }
}

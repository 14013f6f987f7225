// Store buffering with one store that is only a release: an SC load is no fence (ISO C11, 7.17.3).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: robust
//@ tso: not-robust
//@ run: not-robust
#include "together.h"

static atomic_int at[2];
static int seen[2];

static void body(int me) {
    if (me == 0) {
        atomic_store(&at[0], 1); //~ missed
        seen[0] = atomic_load(&at[1]); //~ stale
    } else {
        atomic_store_explicit(&at[1], 1, memory_order_release); //~ missed
        seen[1] = atomic_load(&at[0]); //~ stale
    }
}

int main(void) {
    together(2, body);
    assert(seen[0] || seen[1]);
}

// Records that clients bring along need not be zeroed.
#include <stdatomic.h>
//@ object: struct q
struct q { _Atomic int x, y; };
struct node { _Atomic int flag; };
int a(struct q *q, struct node *n) { if (!n) return 0;
    if (atomic_load_explicit(&n->flag, memory_order_relaxed) == 0) return 0;
    atomic_store_explicit(&q->x, 1, memory_order_relaxed); return atomic_load_explicit(&q->y, memory_order_relaxed); }
int b(struct q *q, struct node *n) { if (!n) return 0;
    if (atomic_load_explicit(&n->flag, memory_order_relaxed) == 0) return 0;
    atomic_store_explicit(&q->y, 1, memory_order_relaxed); return atomic_load_explicit(&q->x, memory_order_relaxed); }

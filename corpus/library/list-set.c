//@ specification: set
//@ add: set_add
//@ remove: set_remove
//@ contains: set_contains
//@ verdict: not-robust
//@ because: a search may see an old list after it has seen a later change elsewhere. It then only tries in vain, but iterations that help are not removed
// A set as a sorted list (Harris, A pragmatic implementation of non-blocking linked lists, 2001; Michael, High performance dynamic
// lock-free hash tables and list-based sets, 2002). The lowest bit of `next` marks a node as removed. Nodes are never freed.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    int key;
    _Atomic(struct node *) next;
};

struct set {
    struct node first; // a sentinel, before all keys
};

static inline bool is_marked(struct node *n) {
    return (uintptr_t)n & 1;
}

static inline struct node *marked(struct node *n) {
    return (struct node *)((uintptr_t)n | 1);
}

static inline struct node *unmarked(struct node *n) {
    return (struct node *)((uintptr_t)n & ~(uintptr_t)1);
}

// The first node that is not below the key, and the node before; unlinks marked nodes on the way.
static void find(struct set *s, int key, struct node **before, struct node **found) {
    for (;;) {
        struct node *previous = &s->first;
        struct node *current = atomic_load_explicit(&previous->next, memory_order_acquire);
        bool is_lost = false;
        while (current != NULL) {
            struct node *next = atomic_load_explicit(&current->next, memory_order_acquire);
            if (is_marked(next)) {
                struct node *expected = current;
                if (!atomic_compare_exchange_strong_explicit(&previous->next, &expected, unmarked(next),
                                                             memory_order_acq_rel, memory_order_acquire)) {
                    is_lost = true;
                    break;
                }
                current = unmarked(next);
            } else {
                if (current->key >= key)
                    break;
                previous = current;
                current = next;
            }
        }
        if (!is_lost) {
            *before = previous;
            *found = current;
            return;
        }
    }
}

bool set_add(struct set *s, int key) {
    struct node *n = malloc(sizeof *n);
    n->key = key;
    for (;;) {
        struct node *previous, *current;
        find(s, key, &previous, &current);
        if (current != NULL && current->key == key)
            return false;
        atomic_store_explicit(&n->next, current, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&previous->next, &current, n, memory_order_acq_rel,
                                                    memory_order_acquire))
            return true;
    }
}

bool set_remove(struct set *s, int key) {
    for (;;) {
        struct node *previous, *current;
        find(s, key, &previous, &current);
        if (current == NULL || current->key != key)
            return false;
        struct node *next = atomic_load_explicit(&current->next, memory_order_acquire);
        if (is_marked(next) ||
            !atomic_compare_exchange_strong_explicit(&current->next, &next, marked(next), memory_order_acq_rel,
                                                     memory_order_acquire))
            continue;
        // If somebody is in the way, the next search unlinks the node.
        atomic_compare_exchange_strong_explicit(&previous->next, &current, next, memory_order_acq_rel,
                                                memory_order_acquire);
        return true;
    }
}

bool set_contains(struct set *s, int key) {
    struct node *current = atomic_load_explicit(&s->first.next, memory_order_acquire);
    while (current != NULL && current->key < key)
        current = unmarked(atomic_load_explicit(&current->next, memory_order_acquire));
    return current != NULL && current->key == key &&
           !is_marked(atomic_load_explicit(&current->next, memory_order_acquire));
}

// Readers and writers of liburcu in its flavour with memory barriers in readers, and its queues and stacks. Each part checks what it computed.
// Built with the primitives of urcu/.

// Macros instead of functions: the functions take a pointer that was loaded without care.
#define _LGPL_SOURCE
#include <urcu/urcu-mb.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu/lfstack.h>
#include <urcu/rculfqueue.h>
#include <urcu/wfcqueue.h>
#include <urcu/wfstack.h>

enum { THREADS = 4, TIMES = 200 };
static pthread_barrier_t start;

static void must(int holds, const char *part) {
    if (!holds) {
        fprintf(stderr, "%s: wrong result\n", part);
        _Exit(3);
    }
}

static void *new(size_t size) {
    void *memory = malloc(size);
    must(memory != NULL, "malloc");
    return memory;
}

// Two writers replace what readers follow, and free it after a grace period.
static long *current;

static void grace_periods(long me) {
    for (int i = 0; i < TIMES; i++) {
        if (me < 2 && i % 10 == 0) {
            long *mine = new(sizeof *mine);
            *mine = i;
            long *old = rcu_xchg_pointer(&current, mine);
            urcu_mb_synchronize_rcu();
            if (old)
                *old = -1;
            free(old);
        } else {
            urcu_mb_read_lock();
            long *seen = rcu_dereference(current);
            must(!seen || *seen >= 0, "grace_periods");
            urcu_mb_read_unlock();
        }
    }
}

// Callbacks that a thread of liburcu runs after a grace period.
struct garbage {
    struct rcu_head head;
    long value;
};
static struct garbage *held;

static void collect(struct rcu_head *head) {
    free(caa_container_of(head, struct garbage, head));
}

static void callbacks(long me) {
    for (int i = 0; i < TIMES; i++) {
        urcu_mb_read_lock();
        if (me == 0) {
            struct garbage *mine = new(sizeof *mine);
            mine->value = i;
            struct garbage *old = rcu_xchg_pointer(&held, mine);
            if (old)
                urcu_mb_call_rcu(&old->head, collect);
        } else {
            struct garbage *seen = rcu_dereference(held);
            must(!seen || seen->value >= 0, "callbacks");
        }
        urcu_mb_read_unlock();
    }
    if (me == 0)
        urcu_mb_barrier();
}

// Each thread puts as much in as it takes out.
struct item {
    union {
        struct cds_lfs_node lfs;
        struct cds_wfs_node wfs;
        struct cds_wfcq_node wfcq;
        struct cds_lfq_node_rcu lfq;
    };
    long value;
};
static struct item items[THREADS][TIMES];
static struct cds_lfs_stack lock_free_stack;
static struct cds_wfs_stack wait_free_stack;
static struct cds_wfcq_head queue_head;
static struct cds_wfcq_tail queue_tail;
static struct cds_lfq_queue_rcu rcu_queue;

static void stack_lfs(long me) {
    for (int i = 0; i < TIMES; i++) {
        struct item *item = &items[me][i];
        item->value = 1;
        cds_lfs_node_init(&item->lfs);
        cds_lfs_push(&lock_free_stack, &item->lfs);
        struct cds_lfs_node *node = cds_lfs_pop_blocking(&lock_free_stack);
        must(node && caa_container_of(node, struct item, lfs)->value == 1, "stack_lfs");
    }
}

static void stack_wfs(long me) {
    for (int i = 0; i < TIMES; i++) {
        struct item *item = &items[me][i];
        item->value = 1;
        cds_wfs_node_init(&item->wfs);
        cds_wfs_push(&wait_free_stack, &item->wfs);
        struct cds_wfs_node *node = cds_wfs_pop_blocking(&wait_free_stack);
        must(node && caa_container_of(node, struct item, wfs)->value == 1, "stack_wfs");
    }
}

static void queue_wfc(long me) {
    for (int i = 0; i < TIMES; i++) {
        struct item *item = &items[me][i];
        item->value = 1;
        cds_wfcq_node_init(&item->wfcq);
        cds_wfcq_enqueue(&queue_head, &queue_tail, &item->wfcq);
        struct cds_wfcq_node *node = cds_wfcq_dequeue_blocking(&queue_head, &queue_tail);
        must(node && caa_container_of(node, struct item, wfcq)->value == 1, "queue_wfc");
    }
}

static void queue_lf(long me) {
    for (int i = 0; i < TIMES; i++) {
        struct item *item = &items[me][i];
        item->value = 1;
        cds_lfq_node_init_rcu(&item->lfq);
        urcu_mb_read_lock();
        cds_lfq_enqueue_rcu(&rcu_queue, &item->lfq);
        struct cds_lfq_node_rcu *node = cds_lfq_dequeue_rcu(&rcu_queue);
        urcu_mb_read_unlock();
        must(!node || caa_container_of(node, struct item, lfq)->value == 1, "queue_lf");
    }
}

static void (*const parts[])(long me) = {grace_periods, callbacks, stack_lfs, stack_wfs, queue_wfc, queue_lf};
static void (*body)(long me);

static void *member(void *number) {
    urcu_mb_register_thread();
    pthread_barrier_wait(&start);
    body((long)number);
    urcu_mb_unregister_thread();
    return NULL;
}

int main(void) {
    pthread_barrier_init(&start, NULL, THREADS);
    cds_lfs_init(&lock_free_stack);
    cds_wfs_init(&wait_free_stack);
    cds_wfcq_init(&queue_head, &queue_tail);
    cds_lfq_init_rcu(&rcu_queue, urcu_mb_call_rcu);
    for (unsigned p = 0; p < sizeof parts / sizeof *parts; p++) {
        pthread_t crew[THREADS];
        body = parts[p];
        for (long i = 0; i < THREADS; i++)
            if (pthread_create(&crew[i], NULL, member, (void *)i) != 0)
                return 2;
        for (int i = 0; i < THREADS; i++)
            pthread_join(crew[i], NULL);
    }
}

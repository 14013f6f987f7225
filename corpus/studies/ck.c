// Threads that use what Concurrency Kit has for them: rings, stacks, queues, locks, sequence locks, barriers, epochs. Each part checks what it
// computed. Built with the primitives of ck/ck_pr.h.
//
// usage: ck [PART…]

#include <ck_barrier.h>
#include <ck_epoch.h>
#include <ck_fifo.h>
#include <ck_pflock.h>
#include <ck_ring.h>
#include <ck_rwlock.h>
#include <ck_sequence.h>
#include <ck_spinlock.h>
#include <ck_stack.h>
#include <ck_tflock.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, TIMES = 100 };
static pthread_barrier_t start;

static void must(int holds, const char *part) {
    if (!holds) {
        fprintf(stderr, "%s: wrong result\n", part);
        _Exit(3);
    }
}

// Rings.
static ck_ring_t ring;
static ck_ring_buffer_t buffer[16];
static long items[THREADS * TIMES], sums[THREADS];

static void ring_spsc(long me) {
    if (me > 1)
        return;
    for (long i = 0; i < TIMES;) {
        void *item;
        if (me == 0) {
            items[i] = i;
            i += ck_ring_enqueue_spsc(&ring, buffer, &items[i]);
        } else if (ck_ring_dequeue_spsc(&ring, buffer, &item)) {
            must(*(long *)item == i++, "ring_spsc");
        }
        sched_yield();
    }
}

static void ring_mpmc(long me) {
    for (long i = 0; i < TIMES; i++) {
        void *item = &items[me * TIMES + i];
        *(long *)item = 1;
        while (!ck_ring_enqueue_mpmc(&ring, buffer, item))
            sched_yield();
        while (!ck_ring_dequeue_mpmc(&ring, buffer, &item))
            sched_yield();
        sums[me] += *(long *)item;
    }
}

// A stack whose nodes are never used again.
static ck_stack_t stack = CK_STACK_INITIALIZER;
static struct task {
    ck_stack_entry_t entry;
    long value;
} tasks[THREADS * TIMES];

static void stack_upmc(long me) {
    for (long i = 0; i < TIMES; i++) {
        struct task *task = &tasks[me * TIMES + i];
        task->value = 1;
        ck_stack_push_upmc(&stack, &task->entry);
        ck_stack_entry_t *entry = i % 2 ? ck_stack_pop_upmc(&stack) : NULL;
        if (entry)
            must(((struct task *)entry)->value == 1, "stack_upmc");
    }
}

static ck_fifo_spsc_t fifo;
static ck_fifo_spsc_entry_t entries[TIMES + 1];

static void fifo_spsc(long me) {
    if (me > 1)
        return;
    for (long i = 0; i < TIMES;) {
        void *item;
        if (me == 0) {
            items[i] = i;
            ck_fifo_spsc_enqueue(&fifo, &entries[1 + i], &items[i]);
            i++;
        } else if (ck_fifo_spsc_dequeue(&fifo, &item)) {
            must(*(long *)item == i++, "fifo_spsc");
        } else {
            sched_yield();
        }
    }
}

// Locks around a counter that is not atomic.
static long inside;
#define LOCK(name, type, initial, acquire, release) \
    static type lock_##name = initial; \
    static void name(long me) { \
        (void)me; \
        for (int i = 0; i < TIMES; i++) { \
            acquire; \
            inside++; \
            release; \
        } \
    }
LOCK(fas, ck_spinlock_fas_t, CK_SPINLOCK_FAS_INITIALIZER, ck_spinlock_fas_lock_eb(&lock_fas), ck_spinlock_fas_unlock(&lock_fas))
LOCK(cas, ck_spinlock_cas_t, CK_SPINLOCK_CAS_INITIALIZER, ck_spinlock_cas_lock_eb(&lock_cas), ck_spinlock_cas_unlock(&lock_cas))
LOCK(dec, ck_spinlock_dec_t, CK_SPINLOCK_DEC_INITIALIZER, ck_spinlock_dec_lock_eb(&lock_dec), ck_spinlock_dec_unlock(&lock_dec))
LOCK(ticket, ck_spinlock_ticket_t, CK_SPINLOCK_TICKET_INITIALIZER, ck_spinlock_ticket_lock(&lock_ticket),
     ck_spinlock_ticket_unlock(&lock_ticket))
LOCK(mcs, ck_spinlock_mcs_t, CK_SPINLOCK_MCS_INITIALIZER, ck_spinlock_mcs_context_t context;
     ck_spinlock_mcs_lock(&lock_mcs, &context), ck_spinlock_mcs_unlock(&lock_mcs, &context))
LOCK(rwlock, ck_rwlock_t, CK_RWLOCK_INITIALIZER,
     if (i % 4) { ck_rwlock_read_lock(&lock_rwlock); must(inside >= 0, "rwlock"); ck_rwlock_read_unlock(&lock_rwlock); }
     ck_rwlock_write_lock(&lock_rwlock), ck_rwlock_write_unlock(&lock_rwlock))
LOCK(pflock, ck_pflock_t, CK_PFLOCK_INITIALIZER,
     if (i % 4) { ck_pflock_read_lock(&lock_pflock); must(inside >= 0, "pflock"); ck_pflock_read_unlock(&lock_pflock); }
     ck_pflock_write_lock(&lock_pflock), ck_pflock_write_unlock(&lock_pflock))
LOCK(tflock, ck_tflock_ticket_t, CK_TFLOCK_TICKET_INITIALIZER,
     if (i % 4) { ck_tflock_ticket_read_lock(&lock_tflock); must(inside >= 0, "tflock"); ck_tflock_ticket_read_unlock(&lock_tflock); }
     ck_tflock_ticket_write_lock(&lock_tflock), ck_tflock_ticket_write_unlock(&lock_tflock))

// One writer, the others read two numbers that belong together.
static ck_sequence_t sequence = CK_SEQUENCE_INITIALIZER;
static unsigned both[2];

static void sequence_lock(long me) {
    for (unsigned i = 0; i < TIMES; i++) {
        if (me == 0) {
            ck_sequence_write_begin(&sequence);
            ck_pr_store_uint(&both[0], i);
            ck_pr_store_uint(&both[1], i);
            ck_sequence_write_end(&sequence);
        } else {
            unsigned version, a, b;
            do {
                version = ck_sequence_read_begin(&sequence);
                a = ck_pr_load_uint(&both[0]);
                b = ck_pr_load_uint(&both[1]);
            } while (ck_sequence_read_retry(&sequence, version));
            must(a == b, "sequence_lock");
        }
    }
}

static ck_barrier_centralized_t barrier = CK_BARRIER_CENTRALIZED_INITIALIZER;
static long arrived[THREADS];

static void barrier_centralized(long me) {
    ck_barrier_centralized_state_t state = CK_BARRIER_CENTRALIZED_STATE_INITIALIZER;
    for (long i = 0; i < TIMES / 10; i++) {
        arrived[me] = i;
        ck_barrier_centralized(&barrier, &state, THREADS);
        must(arrived[(me + 1) % THREADS] == i, "barrier_centralized");
        ck_barrier_centralized(&barrier, &state, THREADS);
    }
}

// Readers follow a pointer that a writer replaces; what is replaced is freed after a grace period.
static ck_epoch_t epoch;
static long *current;

struct garbage {
    ck_epoch_entry_t entry;
    long value;
};

static void collect(ck_epoch_entry_t *entry) {
    struct garbage *garbage = (struct garbage *)entry;
    garbage->value = -1;
    free(garbage);
}

static void epochs(long me) {
    ck_epoch_record_t *record = malloc(sizeof *record);
    ck_epoch_register(&epoch, record, NULL);
    for (long i = 0; i < TIMES; i++) {
        if (me == 0) {
            struct garbage *new = malloc(sizeof *new), *old;
            new->value = i;
            ck_pr_fence_store();
            old = ck_pr_load_ptr(&current);
            ck_pr_store_ptr(&current, new);
            ck_epoch_begin(record, NULL);
            if (old)
                ck_epoch_call(record, &old->entry, collect);
            ck_epoch_end(record, NULL);
            if (i % 20 == 0)
                ck_epoch_barrier(record);
            else
                ck_epoch_poll(record);
        } else {
            ck_epoch_begin(record, NULL);
            struct garbage *seen = ck_pr_load_ptr(&current);
            ck_pr_fence_load_depends();
            if (seen)
                must(__atomic_load_n(&seen->value, __ATOMIC_RELAXED) >= 0, "epochs");
            ck_epoch_end(record, NULL);
        }
    }
    if (me == 0)
        ck_epoch_barrier(record);
    ck_epoch_unregister(record);
}

static const struct {
    const char *name;
    void (*body)(long me);
    int is_lock;
} parts[] = {
    {"ring_spsc", ring_spsc, 0}, {"ring_mpmc", ring_mpmc, 0}, {"stack_upmc", stack_upmc, 0}, {"fifo_spsc", fifo_spsc, 0},
    {"fas", fas, 1}, {"cas", cas, 1}, {"dec", dec, 1}, {"ticket", ticket, 1}, {"mcs", mcs, 1}, {"rwlock", rwlock, 1},
    {"pflock", pflock, 1}, {"tflock", tflock, 1}, {"sequence_lock", sequence_lock, 0},
    {"barrier_centralized", barrier_centralized, 0}, {"epochs", epochs, 0},
};
static void (*body)(long me);

static void *member(void *number) {
    pthread_barrier_wait(&start);
    body((long)number);
    return NULL;
}

int main(int argc, char **argv) {
    for (unsigned p = 0; p < sizeof parts / sizeof *parts; p++) {
        int wanted = argc < 2;
        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], parts[p].name) == 0;
        if (!wanted)
            continue;
        pthread_t crew[THREADS];
        body = parts[p].body;
        inside = 0;
        memset(sums, 0, sizeof sums);
        ck_ring_init(&ring, 16);
        ck_fifo_spsc_init(&fifo, &entries[0]);
        ck_epoch_init(&epoch);
        pthread_barrier_init(&start, NULL, THREADS);
        for (long i = 0; i < THREADS; i++)
            if (pthread_create(&crew[i], NULL, member, (void *)i) != 0)
                return 2;
        for (int i = 0; i < THREADS; i++)
            pthread_join(crew[i], NULL);
        must(!parts[p].is_lock || inside == THREADS * TIMES, parts[p].name);
        must(body != ring_mpmc || sums[0] + sums[1] + sums[2] + sums[3] == THREADS * TIMES, parts[p].name);
    }
}

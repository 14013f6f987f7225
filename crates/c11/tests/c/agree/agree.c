//@ setup: prepare
// All sorts of control flow and places, for comparison with a compiler.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct link {
    int value;
    _Atomic(struct link *) next;
};

struct thing {
    atomic_int total;
    struct cell {
        atomic_int sequence;
        int value;
    } cells[4];
    int table[2][3];
    struct link *first;
};

static struct thing it;
static atomic_int x = 3, y;
static struct link pool[4], *list;
static int matrix[3][4] = {{1, 2}, {[3] = 5}, {7}};

void prepare(void *unused) {
    for (int i = 0; i < 4; i++)
        it.cells[i].sequence = i;
    it.table[1][2] = 11;
    struct link *l = calloc(1, sizeof *l);
    l->value = 42;
    list = l;
}

int loops(int a, int b) {
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        if (i == a)
            continue;
        if (i > b + 5)
            break;
        int j = i;
        do {
            if (j % 3 == 2)
                continue;
            sum += j;
            if (sum > 40)
                break;
        } while (j-- > 0);
        while (x > 3)
            x--;
        sum += x++;
    }
    return sum;
}

static int helper(int a, int *out) {
    if (a < 0)
        return -1;
    for (int i = 0;; i++) {
        if (i > a) {
            *out = i;
            return i;
        }
        while (true) {
            if (i * a > 12) {
                *out += a;
                return 100 + a;
            }
            if (i != 3)
                break;
            return 50;
        }
        if (a == 8)
            break;
    }
    *out = -5;
    if (a & 1) {
        if (x)
            return 7;
        y++;
    } else if (y > 3) {
        y = 0;
        return 9;
    }
    return 1;
}

int early(int a, int b) {
    int out = b;
    int got = helper(a, &out);
    got = got * 3 + helper(b, &out);
    return got * 100 + out;
}

int nested(int a) {
    int r = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            if (j == a)
                break;
            if (i == a)
                return r;
            r += matrix[i][j + 1] * (i + 1);
        }
    return r + sizeof matrix / sizeof matrix[0];
}

int logic(int a, int b) {
    bool p = a, q = b > 3 && (x = a) != 2, r = a || (y += b) > 5;
    int z = p ? q ? a : (y = 3) : r ? b : -b;
    return z * 8 + (!p << 2) + ((q | r) ^ p) + ~a + -b + (a > b) - (a >= b) + (a == b ? x : y);
}

int steps(int a) {
    int i = a, j = i++ + 2, k = --i - j--;
    x += i;
    x -= j;
    x ^= 5;
    y |= x & 12;
    int old = y++ + --x;
    i <<= 2;
    k *= i;
    k /= 3;
    k %= 7;
    return old + i + j * 2 + k * 5 + (i, j);
}

int chosen(int a) {
    switch (a) {
    case 1:
    case 2:
        return 12;
    case 3: {
        int b = a * 2;
        x = b;
        break;
    }
    default:
        y = a;
        break;
    case 4:
        for (int i = 0; i < 3; i++)
            if (i == 1)
                break;
        y = 4;
    }
    return x * 10 + y;
}

static struct cell *at(int i) { return &it.cells[i & 3]; }

int cells_of(int a, int b) {
    struct cell *c = at(a);
    c->value += b;
    int before = atomic_fetch_add(&c->sequence, 4);
    c = it.cells;
    c += b & 1;
    it.table[a & 1][(b & 7) % 3] = c->value;
    int *row = it.table[1];
    row[2]++;
    return before + at(b)->value + it.table[1][2] + row[0] + (at(b) - it.cells) + (c == at(a));
}

int listed(int a) {
    struct link *n = malloc(sizeof *n);
    *n = (struct link){.next = list, .value = a};
    if (a > 3)
        list = n;
    int sum = 0, most = 0;
    for (struct link *l = list; l && most++ < 9; l = l->next)
        sum = sum * 3 % 1000 + l->value;
    return sum;
}

static inline uintptr_t mark(struct link *l) { return (uintptr_t)l | 1; }

int tagged(int a) {
    struct link *l = list;
    uintptr_t p = a & 2 ? mark(l) : (uintptr_t)l;
    struct link *back = (struct link *)(p & ~(uintptr_t)1);
    return (p & 1) + back->value * 2 + (back == l);
}

bool swapped(int a, int *expected) {
    *expected = a + 1;
    bool done = atomic_compare_exchange_strong(&y, expected, a);
    return done || atomic_exchange(&x, a) == a;
}

static bool find(int key, struct link **before, struct link **found) {
    *before = NULL;
    *found = list;
    int most = 0;
    while (*found && most++ < 20) {
        if ((*found)->value == key)
            return true;
        *before = *found;
        *found = (*found)->next;
    }
    return false;
}

int shared_find(int a, int b) {
    struct link *p, *q;
    if (!find(a, &p, &q) && !find(b, &p, &q))
        return -1;
    if (p && q->value < 5)
        p->next = q->next;
    return p ? p->value : q->value * 7;
}

int pool_of(int a) {
    struct link *p = &pool[a & 3];
    p->value += a;
    p->next = &pool[(a + 1) & 3];
    struct link *n = p->next;
    return n->value * 3 + pool[0].value + p->value;
}

// What is legal and seldom written: scopes within scopes, narrow numbers, values that are read while they are written.
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct pair {
    int a, b;
    struct pair *next;
};

enum color { RED, GREEN = 5, BLUE };
enum level { LOW = -3, HIGH };

static struct pair *list;
static atomic_int x = 3, y;
static _Atomic uint8_t byte = 250;
static _Atomic int8_t small = 120;
static _Atomic uint16_t half = 65530;
static _Atomic int32_t word = INT32_MAX - 3;
static _Atomic uint64_t wide = UINT64_MAX - 3;
static atomic_bool flag;
static uint8_t cells[8];
static int w = 7;

// Two variables of one name.
int statics(int a) {
    if (a & 1) {
        static int v = 10;
        return v++;
    } else {
        static atomic_int v;
        return atomic_fetch_add(&v, 3);
    }
}

static int counted(void) {
    static int v;
    return ++v;
}

int static_of_helper(int a) { return counted() * 10 + (a > 0 ? counted() : 0); }

int cases(int a) {
    int k = a;
    switch (a) {
    case 1: {
        int w = 1;
        {
            k = w;
            break;
        }
    }
    case 2: {
        int x = 40;
        {
            int y = x + 1;
            k = y + x;
            {
                int x = y;
                k += x;
                break;
            }
        }
    }
    default: {
        int k = 3;
        w += k;
        break;
    }
    }
    return k * 10 + w % 10;
}

static struct pair only = {1, 2};

int literal(int a) {
    only = (struct pair){.a = only.b, .b = only.a + a};
    list = list ? list : &only;
    struct pair *p = malloc(sizeof *p);
    p->a = a;
    p->b = a * 2;
    *p = (struct pair){p->b, p->a, list};
    return p->a * 100 + p->b * 10 + p->next->a;
}

int narrow(int a) {
    int8_t got = atomic_fetch_add(&byte, 3);
    uint8_t next = atomic_fetch_sub(&small, a);
    int old = atomic_fetch_add(&half, 5);
    return got * 3 + next + old + (int8_t)byte + (uint8_t)small + (short)half;
}

long bounds(int a) {
    int before = atomic_fetch_add(&word, a);
    unsigned long last = atomic_fetch_add(&wide, a);
    word ^= a;
    wide -= 3;
    return (before > 0) + 2 * (last > 100) + 4 * (word < 0) + 8 * (wide + 4 < 4u) + (long)(last % 1000);
}

int ring(int a) {
    static uint8_t head, tail;
    tail += 3;
    head = tail - 2;
    cells[(uint8_t)(tail - head) & 7] += a;
    cells[tail++ & 7] = head--;
    return (uint8_t)(tail - head) * 100 + cells[2] + ((tail - head) & 7) + (tail - head);
}

int mixed(int a, int b) {
    unsigned u = a;
    size_t s = b;
    short h = a * 1000;
    return (a > 5u) + 2 * (u > 5) + 4 * ((unsigned)a > 5) + 8 * (s > a) + 16 * (b < sizeof(int)) + 32 * (h < u) +
           64 * (-1 < 1u) + 128 * (-1L < 1u) + 256 * ((uint8_t)a == a) + 512 * ((char)(a + 127) < 0);
}

int enums(int a) {
    enum color c = a;
    enum level l = a;
    return (c < 0) + 2 * (l < 0) + 4 * (c == BLUE) + 8 * (l > LOW) + 16 * (c - 1 > GREEN) + 32 * (RED - 1 < 0) + sizeof(c) * 64;
}


int bools(int a, int b) {
    bool p = a;
    p += b;
    bool q = p--;
    flag |= a > 2;
    flag ^= q;
    p = p - 1;
    return p + 2 * q + 4 * flag + 8 * (bool)(a & 4) + 16 * !!b + 32 * (atomic_exchange(&flag, b) == 1);
}

int shifts(int a, int b) {
    uint8_t u = a;
    int8_t s = b;
    uint16_t h = 1 << 15 | u;
    u <<= 3;
    s >>= 1;
    h = h << 1 | h >> 15;
    unsigned r = (unsigned)a << 7 | (unsigned)a >> 25;
    return u + s + h + (int)(r % 977) + (-8 >> 1) + (int)(0x80000000 >> 31) + (~u & 0xf0) + (uint8_t)~s;
}

int assigns(int a, int b) {
    int i = a, j;
    uint8_t k = j = i += b;
    k += 250;
    k /= 3;
    k %= 50;
    i -= k *= 2;
    j = (k = 300) + (i, j);
    (a > b ? i : j) > 3 ? i++ : --j;
    return i + 3 * j + 5 * k;
}

static int twice(uint8_t v) { return v * 2; }
static uint8_t cut(int v) { return v; }
static int same(int v) { return v; }
static void bump(int *p) { ++*p; }

int helpers(int a, int b) {
    int i = a;
    int before = same(i);
    bump(&i);
    int c = same(i) == 3 && (i = 9) ? same(i) : cut(b - 5);
    int d = twice(a - 3) + cut(a * 100) + (same(i), i++, same(i));
    return before + 7 * c + 11 * d + i;
}

int shadows(int a) {
    enum { RED = 9 };
    int x = a;
    {
        typedef uint8_t narrow;
        narrow x = 255;
        x++;
        a += x;
        for (int x = 0; x < 3; x++)
            a += x * RED;
    }
    typedef int16_t narrow;
    narrow b = 70000;
    return a * 3 + x + b % 100;
}

int loops_of_sizes(int a) {
    size_t n = a < 0 ? 0 : a;
    int sum = 0;
    for (size_t i = n; i-- > 0;)
        sum += i;
    for (uint8_t i = 250; i >= 250; i++)
        sum++;
    for (unsigned i = a; i + 1 > 1 && i < 6; i += 2)
        sum += 10;
    do
        sum++;
    while (sum % 4 && sum < 1000);
    return sum;
}

int literals(int a) {
    return (2147483648 > a) + 2 * (0x80000000 > a) + 4 * (0xffffffff == -1) + 8 * (4294967295 == -1) + 16 * ('\n' + 'a' > a) +
           32 * (1u - 2 > 0) + 64 * (1 - 2ul > 9) + 128 * (010 == 8) + 256 * (UINT_MAX + 1 == 0) + 512 * (LONG_MAX > 0) +
           1024 * (SIZE_MAX == -1) + 2048 * (UINT8_MAX + 1 == 256) + 4096 * (INT8_MIN < UINT16_MAX);
}

int exchanges(int a) {
    uint8_t expected = a;
    bool done = atomic_compare_exchange_strong(&byte, &expected, a + 256);
    int8_t e = small;
    e += 1;
    done |= atomic_compare_exchange_strong(&small, &e, a - 1);
    int was = atomic_exchange(&half, a - 3);
    return done + expected * 2 + e * 3 + was + half % 10;
}

int bits(int a, int b) {
    unsigned u = (unsigned)a * 2654435761u;
    uint64_t m = (uint64_t)u << 32 | (unsigned)b;
    int low = __builtin_expect((int)(m & 0xff), 1);
    return low + (int)(m >> 60) + (int)((uint32_t)(m >> 32) == u) + (u & -u) % 100 + (int)((m & (m - 1)) % 89) +
           ((a ^ b) < 0) * 1000 + ((a | b) & ~3);
}

int chosen_types(int a) {
    unsigned u = 1;
    long l = a ? -1 : u;
    long k = a ? -1 : (uint8_t)u;
    unsigned long z = a > 3 ? a : -1;
    return (l < 0) + 2 * (k < 0) + 4 * (z > 100) + 8 * ((a ? (char)-1 : 0u) > 7) + 16 * (sizeof(a ? 1 : 1l) == 8) +
           32 * (sizeof(char) + sizeof('a') + sizeof((short)1 + (short)1));
}

typedef uint32_t tight;

static int red(int a) { return (tight)a % 1000 + RED; }

int hidden(int a) {
    enum { RED = 4 };
    typedef uint8_t tight;
    return (tight)(a * 100) + RED + red(a) * 7;
}

int unhidden(int a) { return (int)((tight)(a * 100) % 997) + RED; }

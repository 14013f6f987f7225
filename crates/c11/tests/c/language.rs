//! What becomes of the parts of C.

use expect_test::{Expect, expect};

use super::show;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&show(text));
}

#[test]
fn operators_on_atomic_objects_are_seq_cst() {
    check(
        "atomic_int x; int y; void f(void) { x = 1; x++; --x; x += 2; x |= 4; y = x; int z = x--; y += z; }",
        expect![[r#"
            atomic x = 0
            plain y = 0

            f()
              @0 store seq_cst x 1
              @1 %1 = add seq_cst x 1
              @2 %2 = sub seq_cst x 1
              @3 %3 = add seq_cst x 2
              @4 %4 = or seq_cst x 4
              @5 %5 = load seq_cst x
              @6 store relaxed y %5
              @7 z = sub seq_cst x 1
              @8 %6 = load relaxed y
              @9 store relaxed y %6 + z
        "#]],
    );
}

#[test]
fn functions_of_stdatomic() {
    check(
        "atomic_flag l = ATOMIC_FLAG_INIT; atomic_long x = ATOMIC_VAR_INIT(7);
         void f(long v) {
             atomic_init(&x, v);
             atomic_store(&x, v);
             atomic_store_explicit(&x, v, memory_order_release);
             long a = atomic_load(&x) + atomic_load_explicit(&x, memory_order_consume);
             a = atomic_exchange(&x, a);
             atomic_compare_exchange_weak(&x, &a, v);
             if (atomic_compare_exchange_strong_explicit(&x, &a, v + 1, memory_order_acq_rel, memory_order_acquire)) a = 2;
             atomic_fetch_add(&x, 1); atomic_fetch_sub_explicit(&x, a, memory_order_acquire);
             atomic_fetch_or(&x, 1); atomic_fetch_and(&x, 1); atomic_fetch_xor(&x, 1);
             while (atomic_flag_test_and_set(&l)) ;
             atomic_flag_clear_explicit(&l, memory_order_release);
             atomic_thread_fence(memory_order_seq_cst); atomic_thread_fence(memory_order_relaxed);
             atomic_signal_fence(memory_order_seq_cst);
         }",
        expect![[r#"
            atomic x = 7
            atomic l = 0

            f(v)
              @0 store plain x v
              @1 store seq_cst x v
              @2 store release x v
              @3 %1 = load seq_cst x
              @4 %2 = load acquire x
              a = %1 + %2
              @5 a = exchange seq_cst x a
              @6 %3 = weak-cas seq_cst/seq_cst x a -> v finding a
              @7 %4 = cas acq_rel/acquire x a -> v + 1 finding a
              if %4
                a = 2
              @8 %5 = add seq_cst x 1
              @9 %6 = sub acquire x a
              @10 %7 = or seq_cst x 1
              @11 %8 = and seq_cst x 1
              @12 %9 = xor seq_cst x 1
              loop
                @13 %10 = exchange seq_cst l 1
                if !%10
                  break
              @14 store release l 0
              @15 fence seq_cst
        "#]],
    );
}

#[test]
fn orders_are_constants_wherever_they_come_from() {
    check(
        "#define ACQ memory_order_acquire
         atomic_int x;
         static int load(atomic_int *p, memory_order o) { return atomic_load_explicit(p, o); }
         int f(void) { const memory_order r = memory_order_relaxed; x = 1; return load(&x, ACQ) + load(&x, r) + load(&x, 2 + 3); }",
        expect![[r#"
            atomic x = 0

            f() returns
              @0 store seq_cst x 1
              @1 %1 = load acquire x
              @2 %2 = load relaxed x
              @3 %3 = load seq_cst x
              return (%1 + %2) + %3
        "#]],
    );
}

#[test]
fn loops() {
    check(
        "atomic_int x;
         int f(int n) {
             for (int i = 0; i < n; i++) { if (i == 3) continue; if (x) break; x = i; }
             do { if (x == 1) continue; x = 2; } while (x < n);
             while (n--) if (x) return n;
             do x = 5; while (0);
             for (;;) { if (x) break; }
             return x;
         }",
        expect![[r#"
            atomic x = 0

            f(n) returns
              i = 0
              loop
                if n <= i
                  break
                if i == 3
                  i = i + 1
                  continue
                @0 %1 = load seq_cst x
                if %1
                  break
                @1 store seq_cst x i
                i = i + 1
              loop
                @2 %2 = load seq_cst x
                if %2 == 1
                  @4 %3 = load seq_cst x
                  if n <= %3
                    break
                  continue
                @3 store seq_cst x 2
                @4 %3 = load seq_cst x
                if n <= %3
                  break
              loop
                %4 = n
                n = %4 - 1
                if !%4
                  break
                @5 %5 = load seq_cst x
                if %5
                  return n
              @6 store seq_cst x 5
              loop
                @7 %6 = load seq_cst x
                if %6
                  break
              @8 %7 = load seq_cst x
              return %7
        "#]],
    );
}

#[test]
fn branches_in_expressions() {
    check(
        "atomic_int x, y;
         int f(int a, int b) {
             if (a && b) x = 1;
             if (a && x) x = 2;
             if (x || y) x = 3;
             int c = a ? x : 4;
             return (a, !(x == 1 && y == 2)) + c;
         }",
        expect![[r#"
            atomic x = 0
            atomic y = 0

            f(a, b) returns
              if (a != 0) && (b != 0)
                @0 store seq_cst x 1
              if a
                @1 %1 = load seq_cst x
                %2 = %1 != 0
              else
                %2 = 0
              if %2
                @2 store seq_cst x 2
              @3 %3 = load seq_cst x
              if %3
                %5 = 1
              else
                @4 %4 = load seq_cst y
                %5 = %4 != 0
              if %5
                @5 store seq_cst x 3
              if a
                @6 %6 = load seq_cst x
                %7 = %6
              else
                %7 = 4
              c = %7
              @7 %8 = load seq_cst x
              if %8 == 1
                @8 %9 = load seq_cst y
                %10 = %9 == 2
              else
                %10 = 0
              return !%10 + c
        "#]],
    );
}

#[test]
fn switches() {
    check(
        "enum { A = 3, B }; atomic_int x[B];
         int f(int k) { switch (k + 1) { case A: case 9: x[0] = 1; break; default: x[1] = B; break; case B: return 2; } return 0; }",
        expect![[r#"
            atomic x[] (cells: 4) = 0

            f(k) returns
              %1 = k + 1
              if (%1 == 3) || (%1 == 9)
                @0 store seq_cst x[0] 1
              else
                if %1 == 4
                  return 2
                else
                  @1 store seq_cst x[1] 4
              return 0
        "#]],
    );
}

#[test]
fn helpers_are_inlined() {
    check(
        "static atomic_int held, other; static int shared;
         static inline void lock(atomic_int *l) { while (atomic_exchange_explicit(l, 1, memory_order_acquire)) ; }
         static inline void unlock(atomic_int *l) { atomic_store_explicit(l, 0, memory_order_release); }
         static int twice(int a) { return a * 2; }
         int f(int k) { lock(&held); int r = shared += twice(k); unlock(&held); return r; }
         int g(void) { lock(&other); unlock(&other); return f(1); }",
        expect![[r#"
            atomic held = 0
            plain shared = 0
            atomic other = 0

            f(k) returns
              loop
                @0 %1 = exchange acquire held 1
                if !%1
                  break
              @1 %2 = load relaxed shared
              @2 store relaxed shared %2 + (k * 2)
              r = %2 + (k * 2)
              @3 store release held 0
              return r

            g() returns
              loop
                @4 %1 = exchange acquire other 1
                if !%1
                  break
              @5 store release other 0
              loop
                @6 %3 = exchange acquire held 1
                if !%3
                  break
              @7 %4 = load relaxed shared
              @8 store relaxed shared %4 + 2
              r = %4 + 2
              @9 store release held 0
              %2 = r
              return %2
        "#]],
    );
}

#[test]
fn what_is_static_stays_so() {
    check(
        "static int helper(void);
         int get(void) { return helper(); }
         int helper(void) {
             { static atomic_int v; atomic_store_explicit(&v, 1, memory_order_relaxed); }
             { static atomic_int v; return atomic_load_explicit(&v, memory_order_relaxed); }
         }
         int two(void) { return helper(); }",
        expect![[r#"
            atomic helper.v = 0

            get() returns
              @0 store relaxed helper.v 1
              %1 = 0
              return %1

            two() returns
              @2 store relaxed helper.v 1
              %1 = 0
              return %1
        "#]],
    );
}

#[test]
fn helpers_return_from_anywhere() {
    check(
        "atomic_int x;
         static int find(int *out, int k) {
             for (int i = 0; i < 3; i++) { if (i == k) { *out = i; return 1; } if (k < 0) break; }
             if (x) { if (k == 7) return 2; x = 1; }
             *out = 9;
             return 0;
         }
         int f(int k) { int o; if (find(&o, k)) return o; return -1; }",
        expect![[r#"
            atomic x = 0

            f(k) returns
              i = 0
              %3 = 0
              loop
                if 3 <= i
                  break
                if i == k
                  o = i
                  %1 = 1
                  %3 = 1
                  break
                if k < 0
                  break
                i = i + 1
              if !%3
                @0 %2 = load seq_cst x
                %4 = 0
                if %2
                  if k == 7
                    %1 = 2
                    %4 = 1
                  else
                    @1 store seq_cst x 1
                if !%4
                  o = 9
                  %1 = 0
              if %1
                return o
              return -1
        "#]],
    );
}

#[test]
fn memory_of_the_client_is_not_shared() {
    check(
        "atomic_int x;
         void get(int *out) { if (x) { *out = 3; return; } *out = 4; }
         int try(int *out) { if (!x) return 0; *out = x; return 1; }
         int swap(int *expected, int d) { return atomic_compare_exchange_strong(&x, expected, d); }
         void put(void *item) { x = item != NULL; }",
        expect![[r#"
            atomic x = 0

            get() returns
              @0 %1 = load seq_cst x
              if %1
                *out = 3
                return *out
              *out = 4
              return *out

            try() returns
              @1 %1 = load seq_cst x
              if !%1
                return 0
              @2 *out = load seq_cst x
              return 1

            swap(*expected, d) returns
              @3 %1 = cas seq_cst/seq_cst x *expected -> d finding *expected
              return %1

            put(item)
              @4 store seq_cst x item != 0
        "#]],
    );
}

#[test]
fn integers_and_pointers_with_tags() {
    check(
        "struct node { _Atomic(uintptr_t) next; int key; }; _Atomic(struct node *) head;
         int f(void) {
             struct node *n = head;
             uintptr_t next = atomic_load(&n->next);
             if (next & 1) return 0;
             struct node *m = (struct node *)(next & ~(uintptr_t)1);
             atomic_store(&m->next, (uintptr_t)n | 1);
             return m->key >= -3 && m->key << 2 > 7 && m->key % 4 != ~n->key;
         }",
        expect![[r#"
            record node
            atomic head = 0
            atomic node.next = 0
            plain node.key = 0

            f() returns
              @0 n = load seq_cst head
              @1 next = load seq_cst n->node.next
              if next & 1
                return 0
              m = i64(next & 18446744073709551614)
              @2 store seq_cst m->node.next u64(n) | 1
              @3 %1 = load relaxed m->node.key
              if -3 <= %1
                @4 %2 = load relaxed m->node.key
                %3 = 7 < (%2 << 2)
              else
                %3 = 0
              if %3
                @5 %4 = load relaxed m->node.key
                @6 %5 = load relaxed n->node.key
                %6 = (%4 % 4) != (-1 - %5)
              else
                %6 = 0
              return %6
        "#]],
    );
}

#[test]
fn macros_and_attributes() {
    check(
        "#define likely(e) __builtin_expect(!!(e), 1)
         #define RELAX() do { cpu_relax(); } while (0)
         struct s { _Alignas(64) atomic_int a; char pad[60]; } __attribute__((aligned(64)));
         __attribute__((noinline)) int f(struct s *s) { while (likely(s->a)) RELAX(); return s->a = 1; }",
        expect![[r#"
            atomic a = 0

            f() returns
              loop
                @0 %1 = load seq_cst a
                if %1 == 0
                  break
              @1 store seq_cst a 1
              return 1
        "#]],
    );
}

#[test]
fn assertions_and_ends() {
    check(
        "#include <assert.h>
         struct s { atomic_int a; };
         int f(struct s *s) { assert(s != NULL); assert(s->a > 0); if (!s) abort(); if (s->a == 5) abort(); return s->a; }",
        expect![[r#"
            atomic a = 0

            f() returns
              @0 %1 = load seq_cst a
              @1 %2 = load seq_cst a
              if %2 == 5
                loop
              @2 %3 = load seq_cst a
              return %3
        "#]],
    );
}

#[test]
fn linearization_points() {
    check(
        "//@ specification: stack
         //@ add: f
         atomic_int x;
         void f(void) {
             x = 1;
             x = 2; //@ linearization-point
         }",
        expect![[r#"
            atomic x = 0
            specification stack
            role add f
            linearization-point @1

            f()
              @0 store seq_cst x 1
              @1 store seq_cst x 2
        "#]],
    );
}

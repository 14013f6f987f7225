//! What is refused, with place and message.

use super::{read, show};

/// (code after two lines of headers, message)
const BAD: &[(&str, &str)] = &[
    ("int f(void) { goto l; l: return 1; }", "3:15: `goto` isn't understood: use loops, break and continue"),
    (
        "volatile int x; int f(void) { return x; }",
        "3:1: `volatile` says nothing about threads: use `_Atomic`, or leave it out",
    ),
    ("int f(void) { asm(\"nop\"); return 1; }", "3:15: assembly isn't understood: use <stdatomic.h>"),
    ("int f(int (*g)(void)) { return g(); }", "3:7: function pointers aren't modelled: name the function"),
    (
        "int h(void); int f(void) { return h(); }",
        "3:35: the function `h` isn't known: define it in this file, so that it can be inlined",
    ),
    (
        "static int g(int n) { return n ? g(n - 1) : 0; } int f(int n) { return g(n); }",
        "3:34: `g` calls itself: recursion can't be inlined, use a loop",
    ),
    (
        "union u { int a; atomic_int b; }; union u x; int f(void) { return x.a; }",
        "3:1: unions aren't modelled: use a struct",
    ),
    (
        "double d; int f(void) { return 1; }",
        "3:1: floating-point numbers aren't modelled: use an integer type",
    ),
    ("int f(void) { return 1.5; }", "3:22: floating-point numbers aren't modelled: use an integer type"),
    (
        "atomic_int x; int f(void) { return atomic_load_explicit(&x, memory_order_release); }",
        "3:61: a load can't be release",
    ),
    (
        "atomic_int x; void f(memory_order o) { atomic_store_explicit(&x, 1, o); }",
        "3:69: the memory order must be one of the constants memory_order_…",
    ),
    (
        "atomic_int x; void f(void) { atomic_store_explicit(&x, 1, memory_order_acquire); }",
        "3:59: a store can't be acquire",
    ),
    (
        "int x; int f(void) { return atomic_load(&x); }",
        "3:41: this object has the type `int`, which isn't atomic",
    ),
    (
        "int f(void) { int a[3]; return a[0]; }",
        "3:19: a local variable of type `int[3]` isn't modelled: use scalars",
    ),
    (
        "struct n { int v; struct n *next; }; struct n *head; int f(void) { struct n *p = head + 1; return p->v; }",
        "3:82: arithmetic on pointers outside arrays isn't modelled: use an array with an index",
    ),
    (
        "struct n { int v; struct n *next; }; struct n *head; int f(void) { struct n *p = malloc(10); return p->v; }",
        "3:89: only a record can be allocated: `malloc(sizeof(struct node))`",
    ),
    (
        "struct n { int v; }; struct s { int *p; }; void f(struct s *s) { int x; s->p = &x; }",
        "3:80: the address of a local variable or the client's memory can't be a value: only pointers to records can be stored, compared and returned",
    ),
    (
        "struct s { int a; }; struct r { int b; }; void f(struct s *s) { s->a = 1; } void g(struct r *r) { r->b = 1; }",
        "3:84: methods work on `struct s` and on `struct r`: say which is the object, with `//@ object: struct s`",
    ),
    (
        "struct s { int a; }; void f(struct s *a, struct s *b) { a->a = b->a; }",
        "3:42: a method that works on two objects isn't modelled",
    ),
    ("int f(void) { return y; }", "3:22: `y` isn't declared"),
    ("int f( { return 1; }", "3:8: this isn't C; ) <typedef_name> [_a-zA-Z] would fit"),
    (
        "#include <nope.h>\nint f(void) { return 1; }",
        "3:10: there is no header `nope.h` here: include headers of C11, such as <stdatomic.h>, and files beside this one",
    ),
    ("static int f(void) { return 1; }", " there is no method: a library needs a function that isn't static"),
    ("int main(void) { return 1; }", "3:5: a library has no `main`: clients are made by the analysis"),
    (
        "//@ specification: heap\nint f(void) { return 1; }",
        "3:1: no specification is called `heap`: take register, stack, queue, set, deque, lock or none",
    ),
    (
        "//@ add: g\nint f(void) { return 1; }",
        "3:1: there is no method `g`: methods are functions that aren't static",
    ),
    (
        "int f(void) { return 1; } //@ add: f",
        "3:27: only `//@ linearization-point` stands behind code: other terms need a line of their own",
    ),
    (
        "int f(void) { return 1; } //@ linearization-point",
        "3:1: a linearization point needs an access of shared memory that begins on its line",
    ),
    ("atomic_bool b; void f(void) { b++; }", "3:31: arithmetic on a `_Bool` isn't modelled: use atomic_int"),
    ("atomic_bool b; void f(int k) { b ^= k; }", "3:32: this operand of a `_Bool` must be 0 or 1"),
    (
        "atomic_uint x; void f(int k) { atomic_compare_exchange_strong(&x, &k, 1); }",
        "3:67: the expected value is in a `int`, and the object is a `unsigned int`: use the same type",
    ),
    ("enum { BIG = 0xffffffff }; int f(void) { return 1; }", "3:8: an enumerator must fit into an `int`"),
    ("enum e x; int f(void) { return 1; }", "3:1: this enumeration isn't declared"),
    (
        "int f(void) { return 2147483647 + 1; }",
        "3:22: this constant overflows its type, which C leaves undefined: use an unsigned type",
    ),
    (
        "int a[1 << 31]; int f(void) { return 1; }",
        "3:7: this constant overflows its type, which C leaves undefined: use an unsigned type",
    ),
    (
        "_Atomic(struct { int a, b; }) x; int f(void) { return 1; }",
        "3:1: `_Atomic(struct { … })` isn't modelled: only numbers and pointers can be atomic",
    ),
    (
        "_Thread_local int x; int f(void) { return x; }",
        "3:1: thread-local variables aren't modelled: pass the state as a parameter",
    ),
    (
        "int f(int k) { switch (k) { case 1: k = 2; case 2: return 1; } return 0; }",
        "3:37: a case that runs into the next one isn't understood: end it with `break`",
    ),
    (
        "struct n { struct n *n; }; struct m { int x; }; struct n *h; int f(void) { return ((struct m *)h)->x; }",
        "3:83: a `struct n *` can't be seen as a `struct m *`: use one type for one record",
    ),
    (
        "_Atomic(int *) p; int f(void) { return *atomic_load(&p); }",
        "3:40: what this `int *` points to isn't known: use a pointer to a struct, or an array with an index",
    ),
    (
        "int f(int *a, int i) { return a[i]; }",
        "3:31: arithmetic on pointers outside arrays isn't modelled: use an array with an index",
    ),
    (
        "atomic_int x; int f(void) { return __atomic_load_n(&x, 5); }",
        "3:36: `__atomic_load_n` isn't understood: use the functions of <stdatomic.h>",
    ),
    (
        "int f(void) { return 99999999999999999999; }",
        "3:22: this number is too large: none has more than 64 bits",
    ),
    ("int f(void) { return 1 / 0; }", "3:22: division by 0"),
    (
        "struct n { int v; struct n *next; }; _Atomic(struct n *) h; int f(struct n *a) { return a < atomic_load(&h); }",
        "3:89: which of two records has the lower address isn't modelled: compare with == and !=",
    ),
    ("#error no\nint f(void) { return 1; }", "3:2: #error no"),
    ("int a[-1]; int f(void) { return 1; }", "3:7: an array can't have -1 cells"),
    (
        "//@ setup: init\nint n; atomic_int x[4]; void init(int k) { n = k; } int f(void) { return n; }",
        "4:44: setup needs a value that isn't known here: setup functions get no values from clients",
    ),
    (
        "//@ setup: init\nint n; void init(void) { for (;;) n++; } int f(void) { return n; }",
        "4:26: setup takes too many steps",
    ),
    (
        "struct n { int v; struct n *next; }; struct n g, *h; struct n f(void) { return g; }",
        "3:80: a whole `struct n` can't be read or written at once: use its fields",
    ),
    ("int f(const char *s) { return \"abc\"[0]; }", "3:31: strings aren't modelled"),
    (
        "struct b { struct a { int x; } a; int y; }; struct a *p; struct b *q; int f(void) { return p->x + q->a.x; }",
        " `struct a` is a record, and also the beginning of the record `struct b`: use one of them",
    ),
    (
        "struct s { int a; }; struct s g; int f(struct s *s) { return s->a + g.a; }",
        " the object is the parameter `struct s *` of methods, and there is the global variable `g` of that type too: use one or the other",
    ),
    ("//@ object: struct z\nint f(void) { return 1; }", "3:1: there is no `struct z`"),
    (
        "struct s { int a : 3; }; int f(struct s *s) { return s->a; }",
        "3:16: bit-fields aren't modelled: use whole numbers",
    ),
    ("int f(void) { break; }", "3:15: there is no loop around this"),
    (
        "atomic_int x; int f(void) { return ({ int y = x; y; }); }",
        "3:36: statements in expressions aren't understood: use a static inline function",
    ),
    ("struct q { int a[3]; }; int f(struct q *q) { return q->b; }", "3:53: `struct q` has no field `b`"),
    (
        "struct q { int v; struct q *n; }; struct q *h; void f(void) { int e; atomic_compare_exchange_strong(&h, &e, 0); }",
        "3:101: this object has the type `struct q *`, which isn't atomic",
    ),
    (
        "atomic_int x, y; void f(void) { atomic_compare_exchange_strong(&x, &y, 0); }",
        "3:68: the expected value must be in a local variable",
    ),
    ("int f(void) { __asm__(\"nop\"); return 1; }", "3:15: assembly isn't understood: use <stdatomic.h>"),
    (
        "atomic_int x; int f(void) { return atomic_fetch_add(&x); }",
        "3:36: `atomic_fetch_add` takes another number of arguments: 2, not 1",
    ),
    (
        "atomic_int x; int f(void) { return atomic_fetch_nand(&x, 1); }",
        "3:36: `atomic_fetch_nand` isn't known: take the functions of C11's <stdatomic.h>",
    ),
    (
        "struct n { int v; struct n *next; }; _Atomic(struct n *) h; void f(void) { atomic_fetch_add(&h, 1); }",
        "3:76: arithmetic on atomic pointers isn't modelled: use an atomic index",
    ),
    (
        "static int g(int a) { return a; } int f(void) { return g(); }",
        "3:56: `g` takes another number of arguments: 1, not 0",
    ),
    (
        "struct n { int v; struct n *next; }; struct n *h; void f(void) { h = malloc(2 * sizeof *h); }",
        "3:77: only a record can be allocated: `malloc(sizeof(struct node))`",
    ),
    ("void f(void) { int *p = malloc(sizeof *p); }", "3:32: `int` can't be allocated: put it into a struct"),
    (
        "struct s { int a; }; struct s *f(struct s *s) { return malloc(sizeof *s); }",
        "3:56: a method allocates the library's object: name the function in `//@ setup:`, or say with `//@ object:` what the object is instead of `struct s`",
    ),
    (
        "struct s { int a; }; struct s *f(struct s *s) { return s; }",
        "3:49: the address of the library's object or a part of it can't be a value: only pointers to records can be stored, compared and returned",
    ),
    (
        "struct n { int v; struct n *next; }; struct n *h; void f(int k) { int *p = k ? &h->v : (int *)0; *p = 1; }",
        "3:76: the address of a field can't be a value: only pointers to records can be stored, compared and returned",
    ),
    (
        "struct n { int v; int w; struct n *next; }; struct n *h; void f(int k) { int *p = &h->v; p = &h->w; *p = 1; }",
        "3:90: `p` points to places of different kinds: use one pointer for each kind",
    ),
    (
        "int a[2], b[2]; void f(int k) { int *p = a; if (k) p = b; *p = 1; }",
        "3:52: `p` points to places of different kinds: use one pointer for each kind",
    ),
    (
        "atomic_int x; int f(int k) { switch (k) { case 1: if (x) break; x = 2; break; default: return 1; } return 0; }",
        "3:58: `break` in the middle of a `switch` isn't understood: let it end a case, or use `if`",
    ),
    (
        "struct s { struct { int a; }; }; int f(struct s *s) { return s->a; }",
        "3:12: fields without a name aren't understood: give the inner struct a name",
    ),
    ("int f(int n, ...) { return n; }", "3:6: variable numbers of arguments aren't understood"),
    (
        "struct p { int a, b; }; atomic_int x; int f(struct p p) { return p.a; }",
        "3:45: a parameter of type `struct p` isn't modelled: pass numbers and pointers",
    ),
    (
        "struct p { int a, b; }; int f(void) { struct p p; return p.a; }",
        "3:48: a local variable of type `struct p` isn't modelled: use scalars",
    ),
    ("const atomic_int x = 1; void f(void) { x = 2; }", "3:40: this is const"),
    ("int f(int x) { return *x; }", "3:23: `int` isn't a pointer"),
    (
        "atomic_int x; void f(void) { x *= 2; }",
        "3:30: this operator on an atomic object isn't modelled: write the loop with compare-exchange",
    ),
    (
        "int f(int x) { return x << 99; }",
        "3:23: the number of bits to shift by must be less than those of the number",
    ),
    (
        "char *s = \"abc\"; int f(void) { return s[0]; }",
        "3:39: what this `char *` points to isn't known: use a pointer to a struct, or an array with an index",
    ),
    (
        "struct s { int a; }; int g(struct s *s) { return s->a; } int f(int k) { struct s *t = (struct s *)(long)k; return g(t); }",
        "3:50: this pointer to the library's object isn't the method's parameter: pass the parameter on",
    ),
    (
        "typedef struct { int a; } stack; stack *f(void) { return 0; } atomic_int x; void g(struct { int b; } *p) { p->b = 1; } void h(stack *s) { s->a = 1; }",
        "3:127: methods work on `struct { … }` and on `struct stack`: say which is the object, with `//@ object: struct { … }`",
    ),
    (
        "//@ verdict robust\natomic_int x; int f(void) { return x; }",
        "3:1: `//@` needs `key: value`, where key is one of: specification, object, one-thread, setup, linearization-point, verdict, because, or a role (get, set, add, remove, contains, take, steal, lock, unlock)",
    ),
    ("//@ lock:\natomic_int x; int f(void) { return x; }", "3:1: `lock` needs names of methods"),
    (
        "//@ colour: red\natomic_int x; int f(void) { return x; }",
        "3:1: no term is called `colour`: take specification, object, one-thread, setup, linearization-point, verdict, because, or a role (get, set, add, remove, contains, take, steal, lock, unlock)",
    ),
    ("atomic_int x; int f(void) { return x + g; }", "3:40: `g` isn't declared"),
    (
        "#define MORE(a) missing(a)\natomic_int x; int f(int   y) { return   x +   MORE(y); }",
        "4:47: the function `missing` isn't known: define it in this file, so that it can be inlined",
    ),
    ("atomic_int x; void f(int k) { if (k) { x = 1 }", "3:46: this isn't C; != % %= & && &= would fit"),
    (
        "atomic_int x; int f(int x) { return atomic_load(&x); }",
        "3:49: this atomic object isn't in shared memory of the library",
    ),
    (
        "atomic_int x; void f(void) { x = (int)&x; }",
        "3:34: the address of a global variable or a part of it can't be a value: only pointers to records can be stored, compared and returned",
    ),
    ("int f(void) { return sizeof(struct nothing); }", "3:22: the size of `struct nothing` isn't known"),
    ("struct nothing x; int f(void) { return 1; }", "3:16: a variable can't be `struct nothing`"),
    (
        "struct n { int a; }; struct n { int b; }; int f(void) { return 1; }",
        "3:22: `struct n` is defined twice",
    ),
    ("int f(void) { return 1; } int f(void) { return 2; }", "3:31: `f` is defined twice"),
    ("void g(void) {} int f(void) { return g() + 1; }", "3:38: this has no value"),
];

#[test]
fn every_refusal_has_its_place_and_reason() {
    for (text, expected) in BAD {
        let error = read(text).map(|library| panic!("{text} is read:\n{library}")).unwrap_err();
        assert_eq!(error.to_string(), format!("lib.c:{expected}"), "{text}");
    }
}

#[test]
fn what_is_nested_too_deep_is_refused() {
    let deep = |before: &str, part: &str, count: usize, after: &str, end: &str| {
        format!("int f(int x) {{ {before}{}{after}{}; }}", part.repeat(count), end.repeat(count))
    };
    for (text, expected) in [
        (deep("return ", "(", 70, "x", ")"), "brackets are nested more than 64 deep"),
        (deep("return ", "!", 100_000, "x", ""), "an expression has more than 1000 parts"),
        (deep("", "for (;;) ", 100_000, "", ""), "there are more than 2000 branches and loops in one file"),
        (
            deep("", "if (x) x = 1; else ", 100_000, "", ""),
            "there are more than 2000 branches and loops in one file",
        ),
    ] {
        assert!(show(&text).ends_with(&format!(": {expected}\n")), "{}", show(&text));
    }
}

#[test]
fn bytes_that_are_no_text() {
    let error =
        seqcst_c11::read("lib.c", b"int f(void) { return \xff\xfe; }", &Default::default()).unwrap_err();
    assert_eq!((error.line, error.column), (1, 22), "{error}");
}

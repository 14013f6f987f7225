//! Which memory there is: objects, records, arrays, and what is in them at the beginning.

use expect_test::{Expect, expect};
use seqcst_c11::Options;

use super::show;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&show(text));
}

#[test]
fn nested_structs_and_arrays() {
    check(
        "struct q { atomic_int a[2][3]; struct { atomic_int lock; int v[4]; } in[2]; struct { int w; } one; };
         int f(struct q *q, int i, int j) { q->in[i].v[j] = 3; q->in[1].lock = 1; q->one.w = 2; return q->a[i][j]; }",
        expect![[r#"
            plain in[].v[] (cells: 8) = 0
            atomic in[].lock (cells: 2) = 0
            plain one.w = 0
            atomic a[][] (cells: 6) = 0

            f(i, j) returns
              @0 store relaxed in[(i * 4) + j].v[] 3
              @1 store seq_cst in[1].lock 1
              @2 store relaxed one.w 2
              @3 %1 = load seq_cst a[(i * 3) + j][]
              return %1
        "#]],
    );
}

#[test]
fn pointers_into_arrays() {
    check(
        "struct cell { atomic_int sequence; int value; }; static struct cell cells[8];
         static struct cell *at(unsigned i) { return &cells[i & 7]; }
         int f(unsigned i) {
             struct cell *c = &cells[i];
             c->value = 1;
             c++;
             if (c == cells + 3) c = at(i + 1);
             atomic_int *s = &c->sequence;
             return *s + at(2)->value + (c - cells);
         }",
        expect![[r#"
            plain cells[].value (cells: 8) = 0
            atomic cells[].sequence (cells: 8) = 0

            f(i) returns
              c = i
              @0 store relaxed cells[c].value 1
              c = c + 1
              if c == 3
                i.2 = u32(i + 1)
                %1 = i.2 & 7
                c = %1
              s = c
              @1 %2 = load seq_cst cells[s].sequence
              %3 = 2
              @2 %4 = load relaxed cells[%3].value
              return i32((%2 + %4) + c)
        "#]],
    );
}

#[test]
fn globals_with_initial_values() {
    check(
        "struct pair { atomic_int a; int b[3]; };
         static struct pair p = { 4, { 1, 2 } }, q = { .b = { [2] = 9 } };
         static atomic_int x = 3 * 2, many[4] = { 5, 5, 5, 5 }, up[3] = { 1, 2, 3 };
         static const int N = sizeof many / sizeof(int);
         int f(int i) { p.a = p.b[i]; q.a = q.b[i]; x = many[i] = up[i] = 0; static int calls; return ++calls + N; }",
        expect![[r#"
            plain p.b[] (cells: 3) = (index == 0) + ((index == 1) * 2)
            atomic p.a = 4
            plain q.b[] (cells: 3) = (index == 2) * 9
            atomic q.a = 0
            atomic up[] (cells: 3) = index + 1
            atomic many[] (cells: 4) = 5
            atomic x = 6
            plain f.calls = 0

            f(i) returns
              @0 %1 = load relaxed p.b[i]
              @1 store seq_cst p.a %1
              @2 %2 = load relaxed q.b[i]
              @3 store seq_cst q.a %2
              @4 store seq_cst up[i] 0
              @5 store seq_cst many[i] 0
              @6 store seq_cst x 0
              @7 %3 = load relaxed f.calls
              @8 store relaxed f.calls %3 + 1
              %4 = 4
              return (%3 + 1) + %4
        "#]],
    );
}

#[test]
fn records_that_are_there_from_the_beginning() {
    check(
        "struct node { int v; struct node *next; };
         static struct node pool[3], dummy = { 7, &pool[1] }; _Atomic(struct node *) head = &dummy;
         int f(int i) {
             struct node *p = &pool[i];
             *p = (struct node){ .v = 3 };
             p->next = atomic_load(&head);
             head = p;
             return dummy.v;
         }",
        expect![[r#"
            record node
            plain node.v = (index == -64) * 7
            plain node.next = (index == -64) * -32
            atomic head = -64

            f(i) returns
              p = -16 - (i * 16)
              @0 store relaxed p->node.v 3
              @1 store relaxed p->node.next 0
              @2 %1 = load seq_cst head
              @3 store relaxed p->node.next %1
              @4 store seq_cst head p
              @5 %2 = load relaxed -64->node.v
              return %2
        "#]],
    );
}

#[test]
fn setup_functions() {
    check(
        "//@ setup: make fill
         struct node { int v; _Atomic(struct node *) next; };
         struct s { atomic_int k; int mask; int squares[4]; atomic_int up[3]; _Atomic(struct node *) first; };
         struct s *make(void) { struct s *s = malloc(sizeof *s); s->mask = 3; atomic_init(&s->k, 5); return s; }
         void fill(struct s *s) {
             for (int i = 0; i <= s->mask; i++) s->squares[i] = i * i;
             for (int i = 0; i < 3; i++) s->up[i] = i + s->k;
             struct node *last = calloc(1, sizeof *last), *first = malloc(sizeof(struct node));
             last->v = 100; first->v = -100; first->next = last; s->first = first;
         }
         int f(struct s *s, int i) {
             s->k = 6;
             s->up[i] = 2;
             struct node *n = s->first;
             if (n->next) n->next = 0;
             return n->v + s->squares[i & s->mask];
         }",
        expect![[r#"
            record node
            atomic k = 5
            atomic up[] (cells: 3) = index + 5
            atomic first = -32
            atomic node.next = (index == -32) * -16
            plain node.v = ((index == -16) * 100) + ((index == -32) * -100)
            plain squares[] (cells: 4) = ((index == 1) + ((index == 2) * 4)) + ((index == 3) * 9)

            f(i) returns
              @0 store seq_cst k 6
              @1 store seq_cst up[i] 2
              @2 n = load seq_cst first
              @3 %1 = load seq_cst n->node.next
              if %1
                @4 store seq_cst n->node.next 0
              @5 %2 = load relaxed n->node.v
              %3 = 3
              @7 %4 = load relaxed squares[i & %3]
              return %2 + %4
        "#]],
    );
}

#[test]
fn the_object_is_no_record() {
    check(
        "struct node { int v; struct node *next; }; struct stack { _Atomic(struct node *) head; };
         void push(struct stack *s, struct node *n) { n->next = s->head; s->head = n; }",
        expect![[r#"
            record node
            atomic head = 0
            plain node.next = 0

            push(n)
              @0 %1 = load seq_cst head
              @1 store relaxed n->node.next %1
              @2 store seq_cst head n
        "#]],
    );
    check(
        "//@ object: struct lock
         struct waiter { atomic_int go; }; struct lock { _Atomic(struct waiter *) tail; };
         void lock(struct lock *l, struct waiter *me) { struct waiter *before = atomic_exchange(&l->tail, me); if (before) while (!me->go) ; }",
        expect![[r#"
            record waiter
            atomic tail = 0
            atomic waiter.go = 0

            lock(me)
              @0 before = exchange seq_cst tail me
              if before
                loop
                  @1 %1 = load seq_cst me->waiter.go
                  if %1
                    break
        "#]],
    );
}

#[test]
fn names_of_globals_and_fields_stay_apart() {
    check(
        "struct s { atomic_int x; }; atomic_int x; void f(struct s *s) { s->x = x; x = 1; }",
        expect![[r#"
            atomic x = 0
            atomic s.x = 0

            f()
              @0 %1 = load seq_cst x
              @1 store seq_cst s.x %1
              @2 store seq_cst x 1
        "#]],
    );
}

#[test]
fn options_replace_comments() {
    let text = b"//@ specification: stack\n//@ add: f\n#include <stdatomic.h>\natomic_int x; void f(void) { x = N; }\n";
    let options = Options {
        contract: vec![("specification".into(), "queue".into()), ("remove".into(), "f".into())],
        definitions: vec!["N=4".into()],
    };
    let library = seqcst_c11::read("lib.c", text, &options).unwrap();
    expect![[r#"
        atomic x = 0
        specification queue
        role add f
        role remove f

        f()
          @0 store seq_cst x 4
    "#]]
    .assert_eq(&library.to_string());
    let options = Options { contract: vec![("add".into(), "g".into())], ..options };
    let error = seqcst_c11::read("lib.c", text, &options).unwrap_err();
    expect!["--spec add=g: there is no method `g`: methods are functions that aren't static"]
        .assert_eq(&error.to_string());
}

#[test]
fn included_files_have_their_own_places() {
    let folder = std::env::temp_dir().join(format!("seqcst-library-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("part.h"), "\nint part(void) { return missing; }\n").unwrap();
    let path = folder.join("lib.c");
    let error =
        seqcst_c11::read(&path.to_string_lossy(), b"#include \"part.h\"\n", &Options::default()).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(error.file.ends_with("part.h"), "{error}");
    assert_eq!((error.line, error.column, error.message.as_str()), (2, 25, "`missing` isn't declared"));
}

//! Fences between calls to different libraries, on every path of every thread.

use seqcst_library::compose::interface::{Interface, Method};
use seqcst_library::compose::{Composition, check, fix};

/// Two registers without objects, a stack with one, and something that runs first.
fn libraries() -> Vec<Interface> {
    let method = |name: &str, object: Option<&str>| Method {
        name: name.to_owned(),
        object: object.map(|name| (0, name.to_owned())),
        is_setup: name.starts_with("init"),
    };
    let library =
        |name: &str, methods: Vec<Method>| Interface { name: name.to_owned(), methods, one_thread: vec![] };
    vec![
        library("a.c", vec![method("set1", None), method("get1", None), method("init1", None)]),
        library("b.c", vec![method("set2", None), method("get2", None)]),
        library("stack.c", vec![method("push", Some("struct stack")), method("pop", Some("struct stack"))]),
    ]
}

const HEAD: &str = "void set1(int); int get1(void); void set2(int); int get2(void);\n\
    struct stack { _Atomic int head; }; void push(struct stack *, int); int pop(struct stack *);\n\
    typedef unsigned long pthread_t; int printf(const char *, ...);\n";

fn composed(code: &str) -> Composition {
    let text = format!("#include <stdatomic.h>\n{HEAD}{code}\n");
    check("client.c", text.as_bytes(), &[], &libraries()).unwrap_or_else(|error| panic!("{error}\n{code}"))
}

/// Gaps as `get1→set2` in the order of the later call.
fn gaps(code: &str) -> Vec<String> {
    let show = |gap: &seqcst_library::compose::Gap| format!("{}→{}", gap.earlier.what, gap.later.what);
    composed(code).gaps.iter().map(show).collect()
}

/// Gaps in the body of one thread.
fn in_thread(body: &str) -> Vec<String> {
    gaps(&format!("int x, y;\nvoid thread(void) {{ {body} }}"))
}

const FENCE: &str = "atomic_thread_fence(memory_order_seq_cst);";

#[test]
fn statements() {
    assert_eq!(in_thread("set1(1); get2();"), ["set1→get2"]);
    assert_eq!(in_thread("set1(1); get1();"), [""; 0]);
    assert_eq!(in_thread(&format!("set1(1); {FENCE} get2();")), [""; 0]);
    assert_eq!(in_thread("set1(1); printf(\"x\"); get2(); set2(3); get1();"), ["set1→get2", "set2→get1"]);
    // Only a fence that is SC will do.
    assert_eq!(in_thread("set1(1); atomic_thread_fence(memory_order_acq_rel); get2();"), ["set1→get2"]);
    assert_eq!(in_thread("set1(1); __atomic_thread_fence(__ATOMIC_SEQ_CST); get2();"), [""; 0]);
    assert_eq!(in_thread("set1(1); __sync_synchronize(); get2();"), [""; 0]);
    // What runs before everything else needs none.
    assert_eq!(in_thread("set2(1); init1(); get2();"), [""; 0]);
}

#[test]
fn branches_and_loops() {
    assert_eq!(in_thread(&format!("set1(1); if (x) {FENCE} get2();")), ["set1→get2"]);
    assert_eq!(in_thread(&format!("set1(1); if (x) {FENCE} else {FENCE} get2();")), [""; 0]);
    assert_eq!(in_thread(&format!("for (;;) {{ set1(1); {FENCE} get2(); }}")), ["get2→set1"]);
    assert_eq!(in_thread(&format!("for (;;) {{ set1(1); {FENCE} get2(); {FENCE} }}")), [""; 0]);
    assert_eq!(in_thread("while (get1()) x++; get2();"), ["get1→get2"]);
    assert_eq!(in_thread("while (get1()) get2();"), ["get2→get1", "get1→get2"]);
    assert_eq!(in_thread("do set1(1); while (x); get1();"), [""; 0]);
    assert_eq!(in_thread("do set1(1); while (get2());"), ["get2→set1", "set1→get2"]);
    assert_eq!(in_thread("for (x = get1(); get1(); get2()) ;"), ["get2→get1", "get1→get2"]);
    assert_eq!(in_thread(&format!("while (1) {{ set1(1); if (x) break; {FENCE} }} get2();")), ["set1→get2"]);
    assert_eq!(in_thread(&format!("while (1) {{ set1(1); {FENCE} }} get2();")), [""; 0]);
    assert_eq!(
        in_thread(&format!("while (x) {{ set1(1); if (y) continue; {FENCE} }} get2();")),
        ["set1→get2"]
    );
    assert_eq!(in_thread("set1(1); return; get2();"), [""; 0]);
    assert_eq!(in_thread("set1(1); goto end; x = 2; end: get2();"), ["set1→get2"]);
    assert_eq!(in_thread("again: set1(1); if (x) goto end; get1(); goto again; end: ;"), [""; 0]);
}

#[test]
fn switches() {
    let switch = |cases: &str| in_thread(&format!("set1(1); switch (x) {{ {cases} }} get2();"));
    assert_eq!(switch(&format!("case 1: {FENCE} break; default: {FENCE}")), [""; 0]);
    assert_eq!(switch(&format!("case 1: {FENCE} break;")), ["set1→get2"]);
    assert_eq!(switch(&format!("case 1: break; default: {FENCE}")), ["set1→get2"]);
    assert_eq!(in_thread("switch (x) { case 1: set1(1); case 2: get2(); }"), ["set1→get2"]);
    assert_eq!(in_thread("switch (x) { case 1: set1(1); break; case 2: get2(); }"), [""; 0]);
}

#[test]
fn expressions() {
    assert_eq!(in_thread("x = get1() && get2();"), ["get1→get2"]);
    assert_eq!(in_thread("x = y ? get1() : get2();"), [""; 0]);
    assert_eq!(
        in_thread("set1(1); x = y && (atomic_thread_fence(memory_order_seq_cst), 1); get2();"),
        ["set1→get2"]
    );
    assert_eq!(in_thread("x = (get1(), atomic_thread_fence(memory_order_seq_cst), get2());"), [""; 0]);
    assert_eq!(in_thread("set2(get1());"), ["get1→set2"]);
    // In any order.
    assert_eq!(in_thread("x = get1() + get2();"), ["get2→get1", "get1→get2"]);
    let either = "x = (atomic_thread_fence(memory_order_seq_cst), get1()) + (atomic_thread_fence(memory_order_seq_cst), get2());";
    assert_eq!(in_thread(either), ["get2→get1", "get1→get2"]);
    assert_eq!(in_thread("int a[] = { get1(), get2() };"), ["get2→get1", "get1→get2"]);
    assert_eq!(in_thread("x = sizeof get1() + get2();"), [""; 0]);
    assert_eq!(in_thread("x = ({ get1(); get2(); });"), ["get1→get2"]);
}

#[test]
fn helper_functions() {
    let helper = "static int x; static void fenced(void) { if (x) set1(2); atomic_thread_fence(memory_order_seq_cst); }\n\
        static void maybe(void) { if (x) atomic_thread_fence(memory_order_seq_cst); }\n\
        static void second(void) { get2(); }\n\
        static void never(void) { for (;;) ; }\n\
        static void both(int n) { set1(n); if (n) both(n - 1); }\n";
    let thread = |body: &str| gaps(&format!("{helper} void thread(void) {{ {body} }}"));
    assert_eq!(thread("set1(1); fenced(); get2();"), [""; 0]);
    assert_eq!(thread("set1(1); maybe(); get2();"), ["set1→get2"]);
    assert_eq!(thread("set1(1); second();"), ["set1→get2"]);
    assert_eq!(thread("second(); set1(1);"), ["get2→set1"]);
    assert_eq!(thread("set1(1); fenced(); second(); fenced(); second();"), ["get2→set1"]);
    assert_eq!(thread("set1(1); never(); get2();"), [""; 0]);
    assert_eq!(thread("both(3); second();"), ["set1→get2"]);
    // What one caller leaves behind does not come out at another.
    assert_eq!(
        thread("get2(); maybe(); atomic_thread_fence(memory_order_seq_cst); maybe(); set1(1);"),
        [""; 0]
    );
}

#[test]
fn threads_inherit_what_was_called_last() {
    let program = |main: &str, thread: &str| {
        let create = "pthread_create(&t, 0, thread, 0);";
        let main = main.replace("CREATE", create).replace("JOIN", "pthread_join(t, 0);");
        gaps(&format!(
            "static void *thread(void *p) {{ {thread} return 0; }}\nint main(void) {{ pthread_t t; {main} }}"
        ))
    };
    assert_eq!(program("set1(1); CREATE", "get2();"), ["set1→get2"]);
    assert_eq!(program(&format!("set1(1); {FENCE} CREATE"), "get2();"), [""; 0]);
    assert_eq!(program("CREATE set1(1);", "get2();"), [""; 0]);
    assert_eq!(program("CREATE JOIN set1(1);", "get2();"), ["get2→set1"]);
    assert_eq!(program("CREATE JOIN set1(1);", &format!("get2(); {FENCE}")), [""; 0]);
    assert_eq!(program("CREATE JOIN set1(1);", "get2(); pthread_exit(0);"), ["get2→set1"]);
    assert_eq!(program("set1(1); CREATE JOIN get2();", FENCE), ["set1→get2"]);
}

#[test]
fn pointers_to_functions() {
    let code = "static void one(void) { set1(1); } static void two(void) { get2(); }\n\
        static void (*table[])(void) = { one, two };\nvoid thread(int i) { table[i](); table[i](); }";
    assert_eq!(gaps(code), ["get2→set1", "set1→get2"]);
    let given = "static int compare(const void *a, const void *b) { return get2(); }\n\
        void sort(int (*)(const void *, const void *));\nvoid thread(void) { set1(1); sort(compare); }";
    assert_eq!(gaps(given), ["set1→get2"]);
    let method = "void thread(void) { int (*f)(void) = get1; f(); }";
    let error = check("c.c", format!("{HEAD}{method}").as_bytes(), &[], &libraries()).unwrap_err();
    assert!(error.message.starts_with("the address of `get1`, a method of a.c, is taken"), "{error}");
    assert_eq!((error.line, error.column), (4, 38));
}

#[test]
fn objects_are_libraries_of_their_own() {
    assert_eq!(gaps("static struct stack s; void thread(void) { push(&s, 1); pop(&s); }"), [""; 0]);
    assert_eq!(gaps("static struct stack s; void thread(struct stack *p) { push(p, 1); pop(p); }"), [""; 0]);
    let two = "static struct stack s, t; void thread(void) { push(&s, 1); pop(&s); pop(&t); }";
    assert_eq!(gaps(two), ["pop→pop"]);
    // Which of them is not known.
    assert_eq!(
        gaps("static struct stack s, t; void thread(struct stack *p) { push(p, 1); pop(p); }"),
        ["push→pop"]
    );
    assert_eq!(
        gaps("static struct stack s[2]; void thread(void) { push(&s[0], 1); pop(&s[0]); }"),
        ["push→pop"]
    );
    let inside = "struct pair { struct stack a, b; }; static struct stack s; void thread(struct pair *p) { push(&p->a, 1); pop(&s); }";
    assert_eq!(gaps(inside), ["push→pop"]);
    let alias = "typedef struct stack stack; static struct stack s; static stack t; void thread(void) { push(&s, 1); pop(&t); }";
    assert_eq!(gaps(alias), ["push→pop"]);
    let made = "void *malloc(unsigned long); static struct stack s;\n\
        void thread(void) { struct stack *p = malloc(sizeof *p); push(p, 1); pop(&s); }";
    assert_eq!(gaps(made), ["push→pop"]);
}

#[test]
fn accesses_of_the_client_count() {
    let thread = |body: &str| {
        gaps(&format!(
            "static atomic_int f, g; static int plain; struct n {{ atomic_int m; }};\nvoid thread(struct n *p) {{ {body} }}"
        ))
    };
    let (load, store) = (
        "atomic_load_explicit(&f, memory_order_acquire);",
        "atomic_store_explicit(&f, 1, memory_order_release);",
    );
    assert_eq!(thread(&format!("set1(1); {load}")), ["set1→atomic_load_explicit"]);
    assert_eq!(thread(&format!("{store} {load}")), [""; 0]);
    assert_eq!(thread(&format!("{store} get1();")), ["atomic_store_explicit→get1"]);
    let other = "atomic_load_explicit(&g, memory_order_relaxed);";
    assert_eq!(thread(&format!("{store} {other}")), ["atomic_store_explicit→atomic_load_explicit"]);
    // An SC access is a fence and an access.
    assert_eq!(thread("set1(1); atomic_store(&f, 1); f = 2; g++;"), [""; 0]);
    assert_eq!(thread("f = 2; get1();"), ["f→get1"]);
    assert_eq!(thread("p->m = 2; get1();"), ["m→get1"]);
    assert_eq!(thread("get1(); plain = 3; get1();"), [""; 0]);
    // The same member, but of which struct?
    let member = "atomic_load_explicit(&p->m, memory_order_relaxed);";
    assert_eq!(thread(&format!("{member} {member}")), ["atomic_load_explicit→atomic_load_explicit"]);
    assert_eq!(thread("atomic_init(&f, 1); get1();"), [""; 0]);
}

#[test]
fn locks_of_the_client_count() {
    let thread = |body: &str| {
        gaps(&format!("#include <pthread.h>\nstatic pthread_mutex_t m;\nvoid thread(void) {{ {body} }}"))
    };
    let guarded = "pthread_mutex_lock(&m); set1(1); pthread_mutex_unlock(&m);";
    assert_eq!(thread(guarded), ["pthread_mutex_lock→set1", "set1→pthread_mutex_unlock"]);
    assert_eq!(thread("pthread_mutex_lock(&m); pthread_mutex_unlock(&m);"), [""; 0]);
}

#[test]
fn promises() {
    let mut libraries = libraries();
    libraries[0].one_thread = vec![vec!["set1".to_owned()]];
    let broken = |main: &str| {
        let code = format!(
            "{HEAD}static void *left(void *p) {{ set1(1); return p; }} static void *right(void *p) {{ get1(); return p; }}\n{main}"
        );
        let composition = check("client.c", code.as_bytes(), &[], &libraries).unwrap();
        (
            composition.broken.len(),
            composition.assumptions.iter().any(|it| it.starts_with("one thread makes")),
        )
    };
    let (left, right) = ("pthread_create(&t, 0, left, 0);", "pthread_create(&t, 0, right, 0);");
    let main = |body: &str| broken(&format!("int main(void) {{ pthread_t t; int i; {body} }}"));
    assert_eq!(main(&format!("{left} {right} {right} get1();")), (0, false));
    assert_eq!(main("set1(1);"), (0, false));
    assert_eq!(main(&format!("{left} {left}")), (1, false));
    assert_eq!(main(&format!("{left} set1(2);")), (1, false));
    assert_eq!(main(&format!("for (i = 0; i < 2; i++) {left}")), (1, false));
    assert_eq!(
        broken(&format!("static void go(void) {{ pthread_t t; {left} }} int main(void) {{ go(); go(); }}")),
        (1, false)
    );
    // Somebody else starts the threads.
    assert_eq!(broken("void thread(void) { set1(1); }"), (0, true));
}

#[test]
fn places_and_paths() {
    let composition = composed(
        "static int x;\nvoid thread(void) {\n    set1(1);\n    if (x)\n        x = 2;\n    get2();\n}",
    );
    let gap = &composition.gaps[0];
    assert_eq!(composition.place(gap.earlier.site), "client.c:7:5");
    assert_eq!(composition.place(gap.later.site), "client.c:10:5");
    assert_eq!(gap.path.iter().map(|site| site.line).collect::<Vec<_>>(), [7, 8, 10]);
    assert_eq!(
        (composition.calls, composition.fences, &composition.threads[..]),
        (2, 0, &["thread".to_owned()][..])
    );
    let foreign = composed("void thread(void) { printf(\"x\"); }");
    assert!(
        foreign.assumptions.iter().any(|it| it.starts_with("printf: it is in no file")),
        "{:?}",
        foreign.assumptions
    );
}

#[test]
fn bad_input() {
    let message = |code: &str| check("c.c", code.as_bytes(), &[], &libraries()).unwrap_err().to_string();
    assert!(message("void thread(void) { if }").starts_with("c.c:1:"));
    assert!(message("int get1(void) { return 1; }").contains("`get1` is a method of a.c"));
    assert!(message("void thread(void) { __asm__(\"nop\"); }").contains("assembly"));
    assert!(message("void thread(void) { break; }").contains("nothing here to leave"));
    let twice = [libraries(), libraries()].concat();
    assert!(
        check("c.c", b"", &[], &twice).unwrap_err().to_string().contains("libraries have to be disjoint")
    );
}

/// What comes out when everything is fixed.
fn fixed(body: &str) -> String {
    let text = format!("#include <stdatomic.h>\n{HEAD}int x;\nvoid thread(void) {{\n{body}}}\n");
    let before = check("client.c", text.as_bytes(), &[], &libraries()).unwrap();
    let fixed = fix::fix("client.c", &text, &[], &before, &libraries()).unwrap();
    assert!(fixed.left.is_empty(), "{:?}", fixed.left);
    let after = check("client.c", fixed.text.as_bytes(), &[], &libraries()).unwrap();
    assert!(after.gaps.is_empty() && after.calls == before.calls, "{}", fixed.text);
    assert_eq!(after.fences - before.fences, fixed.fences.len());
    let start = fixed.text.find("thread(void) {\n").unwrap() + 15;
    fixed.text[start..fixed.text.len() - 2].to_owned()
}

#[test]
fn repairs() {
    assert_eq!(fixed("    set1(1);\n    get2();\n"), format!("    set1(1);\n    {FENCE}\n    get2();\n"));
    assert_eq!(
        fixed("    set1(1); int y = get2();\n"),
        format!("    set1(1); \n    {FENCE}\n    int y = get2();\n")
    );
    // One fence serves both ways to get there.
    assert_eq!(
        fixed("    if (x) set1(1); else set1(2);\n    x = get2() + 1;\n"),
        format!("    if (x) set1(1); else set1(2);\n    {FENCE}\n    x = get2() + 1;\n")
    );
    let comma = "(atomic_thread_fence(memory_order_seq_cst), get2())";
    assert_eq!(fixed("    set1(1);\n    if (x) get2();\n"), format!("    set1(1);\n    if (x) {comma};\n"));
    let loops = fixed("    while (get2()) set1(x);\n");
    assert_eq!(loops, format!("    while ({comma}) (atomic_thread_fence(memory_order_seq_cst), set1(x));\n"));
    assert_eq!(
        fixed("    set1(1);\n    switch (x) { case 1: get2(); }\n"),
        format!("    set1(1);\n    switch (x) {{ case 1: {comma}; }}\n")
    );
}

#[test]
fn what_cannot_be_repaired_is_told() {
    let text = format!(
        "{HEAD}#define SECOND get2()\nint x;\nvoid thread(void) {{ x = get1() + get2(); }}\nvoid other(void) {{ set1(1); SECOND; }}\n"
    );
    let before = check("client.c", text.as_bytes(), &[], &libraries()).unwrap();
    let fixed = fix::fix("client.c", &text, &[], &before, &libraries()).unwrap();
    let left: Vec<(u32, &str)> =
        fixed.left.iter().map(|(call, _)| (call.site.line, call.what.as_str())).collect();
    assert_eq!(left, [(6, "get1"), (6, "get2"), (7, "get2")]);
    assert_eq!(fixed.text, text);
}

#[test]
fn the_header_is_included() {
    let text = format!("#include <stddef.h>\n{HEAD}void thread(void) {{ set1(1); get2(); }}\n");
    let before = check("client.c", text.as_bytes(), &[], &libraries()).unwrap();
    let fixed = fix::fix("client.c", &text, &[], &before, &libraries()).unwrap();
    assert!(fixed.text.starts_with("#include <stdatomic.h>\n#include <stddef.h>\n"), "{}", fixed.text);
}

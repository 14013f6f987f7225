//! What the C of litmus tests becomes, shown as TPL.

use expect_test::{Expect, expect};
use seqcst_program::{Format, Parsed, parse, print};

fn read(source: &str) -> Parsed {
    parse(source.as_bytes(), "test.litmus").unwrap_or_else(|error| {
        let (line, column) = error.line_column(source.as_bytes());
        panic!("{line}:{column}: {error}")
    })
}

fn becomes(source: &str, expected: Expect) {
    expected.assert_eq(&print(&read(source).program));
}

/// The body of a thread with two atomic locations, a plain one and two variables.
fn body(source: &str, expected: Expect) {
    let source = format!(
        "C test\n{{}}\nP0 (atomic_int* x, atomic_int* y, int* d) {{ int r0; int r1;\n{source}\n}}\nexists (x=1)"
    );
    let printed = print(&read(&source).program);
    let (_, body) = printed.split_once("fn P0 {\n").expect("a thread");
    let lines = body.lines().take_while(|line| *line != "}");
    let body: Vec<&str> = lines.map(|line| line.strip_prefix("    ").expect("an indented line")).collect();
    expected.assert_eq(&(body.join("\n") + "\n"));
}

#[test]
fn store_buffering() {
    let source = "C SB+rlx\n\"a comment\"\nCycle=Fre PodWR Fre PodWR\n{ x = 0; [y] = 0 }\n\n\
        P0 (atomic_int* y, atomic_int* x) {\n  atomic_store_explicit(x,1,memory_order_relaxed);\n  \
        int r0 = atomic_load_explicit(y,memory_order_relaxed);\n}\n\n\
        P1 (atomic_int* y,atomic_int* x) {\n  atomic_store_explicit(y,1,memory_order_relaxed);\n  \
        int r0 = atomic_load_explicit(x,memory_order_relaxed);\n}\n\nexists (0:r0=0 /\\ 1:r0=0)\n";
    let condition = Some("exists (0:r0=0 /\\ 1:r0=0)".to_string());
    assert_eq!(read(source).format, Format::Litmus { name: "SB+rlx".to_string(), condition });
    becomes(
        source,
        expect![[r#"
            min_value -128;
            max_value 127;
            global x = 0, y = 0;

            fn P0 {
                local r0;
                x.store(1, rlx);
                r0 = y.load(rlx);
            }

            fn P1 {
                local r0;
                y.store(1, rlx);
                r0 = x.load(rlx);
            }
        "#]],
    );
}

#[test]
fn the_text_tells_the_format() {
    let litmus = b"(* first *) C 2+2W\n{}\nP0 (atomic_int* x) { atomic_store(x, 1); }\n~exists (x=2)";
    let parsed = parse(litmus, "stdin").expect("a litmus test");
    let condition = Some("~exists (x=2)".to_string());
    assert_eq!(parsed.format, Format::Litmus { name: "2+2W".to_string(), condition });
    assert_eq!(parse(b"\xef\xbb\xbffn f { }", "stdin").expect("a program").format, Format::Tpl);
    assert!(parse(litmus, "named.tpl").is_err());
    assert!(parse(b"fn f { }", "named.litmus").is_err());
}

#[test]
fn values() {
    becomes(
        "C test\n{ x = -1; 0:r0 = 1000; 0:r0 = -2; }\nP0 (atomic_int* x) { atomic_store(x, r0); }",
        expect![[r#"
            min_value -1024;
            max_value 1023;
            global x = -1;

            fn P0 {
                local r0;
                r0 = 1000;
                r0 = -2;
                x.store(r0, sc);
            }
        "#]],
    );
}

/// One range for all variables: what the types and numbers of a test leave.
#[test]
fn ranges() {
    let range = |declared: &str, initial: &str, statement: &str| {
        let source =
            format!("C test\n{{ {initial} }}\nP0 (atomic_int* x) {{ {declared} r0 = 1; {statement} }}");
        parse(source.as_bytes(), "test.litmus").map(|parsed| parsed.program.values().to_string())
    };
    let known = |declared, initial, statement| range(declared, initial, statement).expect("a test");
    assert_eq!(known("int", "", ""), "-128 and 127");
    assert_eq!(known("int", "x = 128", ""), "-256 and 255");
    assert_eq!(known("int", "x = -300", ""), "-512 and 511");
    assert_eq!(known("unsigned", "", "r0 = 300;"), "0 and 511");
    assert_eq!(known("uint8_t", "", "r0 = 200;"), "0 and 255");
    assert_eq!(known("char", "", "r0 = 100;"), "-128 and 127");
    assert_eq!(known("int", "", "r0 = (size_t)r0;"), "0 and 127");
    let refused = |declared, initial, statement| {
        range(declared, initial, statement).expect_err("no test").message().to_string()
    };
    expect!["the number 200 is too large beside the type of 8 or 16 bits elsewhere"]
        .assert_eq(&refused("char", "x = 200", ""));
    expect!["the initial value -1 is not between 0 and 127"].assert_eq(&refused("unsigned", "x = -1", ""));
    expect!["the number 40000 is too large: values go up to 32767"].assert_eq(&refused(
        "int",
        "",
        "r0 = 40000;",
    ));
    expect!["the number 70000 is too large: values go up to 65535"].assert_eq(&refused(
        "unsigned",
        "",
        "r0 = 70000;",
    ));
}

#[test]
fn truth_values() {
    body(
        "bool b = 5; b = r0; b = *x; b = !r0; b += 1; r0 = (bool)r1; r0 = (_Bool)(r0 == 1);",
        expect![[r#"
        local r0, r1, b, t0;
        b = 5 != 0;
        b = r0 != 0;
        t0 = x.load(sc);
        b = t0 != 0;
        b = !r0;
        b = b + 1 != 0;
        r0 = r1 != 0;
        r0 = r0 == 1;
    "#]],
    );
    becomes(
        "C test\n{ bool x = 7; }\nP0 (atomic_bool* x) { int r0 = 3; atomic_store(x, r0); atomic_exchange(x, 1); }",
        expect![[r#"
            min_value -128;
            max_value 127;
            global x = 1;

            fn P0 {
                local r0;
                r0 = 3;
                x.store(r0 != 0, sc);
                exchange(x, 1, sc);
            }
        "#]],
    );
}

#[test]
fn plain_accesses() {
    body(
        "*d = 1; r0 = *d + *(d); *x = r0; r1 = *x; if (*y) { *d = 2; }",
        expect![[r#"
                local r0, r1, t0, t1, t2;
                d.nastore(1);
                t0 = d.naload();
                t1 = d.naload();
                r0 = t0 + t1;
                x.store(r0, sc);
                r1 = x.load(sc);
                t2 = y.load(sc);
                if (t2) {
                    d.nastore(2);
                }
        "#]],
    );
}

#[test]
fn atomic_operations() {
    body(
        "r0 = atomic_load(x); atomic_store(x, r0 + 1); r0 = atomic_exchange(x, 2);\n\
         r0 = atomic_fetch_add_explicit(x, 1, memory_order_release);\n\
         atomic_fetch_sub_explicit(x, r0, memory_order_acquire);\n\
         atomic_thread_fence(memory_order_acq_rel); atomic_thread_fence(memory_order_relaxed);\n\
         lock(y); unlock(y);",
        expect![[r#"
                local r0, r1;
                r0 = x.load(sc);
                x.store(r0 + 1, sc);
                r0 = exchange(x, 2, sc);
                r0 = FADD(x, 1, rel);
                FADD(x, -r0, acq);
                fence(acq_rel);
                lock(y);
                unlock(y);
        "#]],
    );
}

#[test]
fn compare_exchange() {
    body(
        "r1 = atomic_compare_exchange_strong(x, &r0, 1);",
        expect![[r#"
                local r0, r1, t0, t1;
                t0 = CAS(x, r0, 1, sc);
                t1 = t0 == r0;
                r0 = t0;
                r1 = t1;
        "#]],
    );
    body(
        "atomic_compare_exchange_strong_explicit(x, &r0, 1, memory_order_release, memory_order_acquire);",
        expect![[r#"
                local r0, r1, t0, t1;
                t0 = CAS(x, r0, 1, rlx, rel, acq);
                t1 = t0 == r0;
                r0 = t0;
        "#]],
    );
    body(
        "r1 = atomic_compare_exchange_weak(x, &r0, 1);",
        expect![[r#"
                local r0, r1, t0, t1;
                oneof ({
                    t0 = CAS(x, r0, 1, sc);
                    t1 = t0 == r0;
                    r0 = t0;
                } {
                    t0 = FCAS(x, r0, 1, sc);
                    t1 = 0;
                    r0 = t0;
                });
                r1 = t1;
        "#]],
    );
    body(
        "r1 = atomic_compare_exchange_strong(x, d, 1);",
        expect![[r#"
                local r0, r1, t0, t1, t2;
                t0 = d.naload();
                t1 = CAS(x, t0, 1, sc);
                t2 = t1 == t0;
                if (!t2) {
                    d.nastore(t1);
                }
                r1 = t2;
        "#]],
    );
    body(
        "r1 = atomic_compare_exchange_weak(x, y, 1);",
        expect![[r#"
                local r0, r1, t0, t1, t2;
                t0 = y.load(rlx);
                oneof ({
                    t1 = CAS(x, t0, 1, sc);
                    t2 = t1 == t0;
                    if (!t2) {
                        y.store(t1, rlx);
                    }
                } {
                    t1 = FCAS(x, t0, 1, sc);
                    t2 = 0;
                    y.store(t1, rlx);
                });
                r1 = t2;
        "#]],
    );
}

#[test]
fn control_flow() {
    body(
        "while (atomic_load(x) == 0) ; do { r0++; } while (r0 < 3); again: r1 -= 2; goto again;\n\
         if (r0) { int r2 = 1; r1 = r2; } else if (r1) r0 = 1; else { int r2 = 2; }",
        expect![[r#"
                local r0, r1, t0, r2;
                t0 = x.load(sc);
                while (t0 == 0) {
                    t0 = x.load(sc);
                }
                again1:
                r0 = r0 + 1;
                if (r0 < 3) goto again1;
                again:
                r1 = r1 - 2;
                goto again;
                if (r0) {
                    r2 = 1;
                    r1 = r2;
                } else if (r1) {
                    r0 = 1;
                } else {
                    r2 = 2;
                }
        "#]],
    );
    body(
        "if (atomic_load(x) && atomic_load(y)) r0 = 1; r1 = r0 || *d;",
        expect![[r#"
                local r0, r1, t0, t1, t2, t3, t4;
                t0 = x.load(sc);
                t2 = t0 != 0;
                if (t2) {
                    t1 = y.load(sc);
                    t2 = t1 != 0;
                }
                if (t2) {
                    r0 = 1;
                }
                t4 = r0 != 0;
                if (!t4) {
                    t3 = d.naload();
                    t4 = t3 != 0;
                }
                r1 = t4;
        "#]],
    );
}

#[test]
fn words_of_tpl_are_renamed() {
    becomes(
        "C test\n{ lock = 1; }\nP0 (atomic_int* lock, atomic_int* rel_) { int rel = atomic_load(lock); int t0 = 1; \
         atomic_store(rel_, rel + *lock + t0); }",
        expect![[r#"
            min_value -128;
            max_value 127;
            global lock_ = 1, rel_;

            fn P0 {
                local rel__, t0, t1;
                rel__ = lock_.load(sc);
                t0 = 1;
                t1 = lock_.load(sc);
                rel_.store(rel__ + t1 + t0, sc);
            }
        "#]],
    );
}

//! Every kind of bad litmus test gets one message, at the right place.

use crate::common::all_fail;
use expect_test::{Expect, expect};

fn litmus(sources: &[&str], expected: Expect) {
    all_fail("test.litmus", &sources.iter().map(|s| s.as_bytes().to_vec()).collect::<Vec<_>>(), expected);
}

/// Errors inside a thread with an atomic location, a plain one, and two variables.
fn c_statements(sources: &[&str], expected: Expect) {
    let wrap = |s: &&str| {
        format!("C test\n{{ }} P0(atomic_int* x, int* d) {{ int r0; int r1 = 0;\n{s}\n}}").into_bytes()
    };
    all_fail("test.litmus", &sources.iter().map(wrap).collect::<Vec<_>>(), expected);
}

#[test]
fn litmus_headers_and_initial_values() {
    litmus(
        &[
            "",
            "X86 SB\n{}\nP0 | P1 ;",
            "C name",
            "C name\n{ x=1;",
            "C name\n{}",
            "C name\n{ x=1; x=2; }\nP0(atomic_int* x) {}",
            "C name\n{ x=y; }\nP0(atomic_int* x) {}",
            "C name\n{ x=70000; }\nP0(atomic_int* x) {}",
            "C name\n{ 1:r=2; }\nP0(atomic_int* x) {}",
            "C name\n{}\nP0(atomic_int x) {}",
            "C name\n{}\nP0(x) {}",
            "C name\n{}\nP0(int* x, int* x) {}",
            "C name\n{}\nP0(int* x) {}\nP1(atomic_int* x) {}",
            "C name\n{}\nP0(int* x) {}\nP0(int* x) {}",
            "C name\n{}\nP0(int* x) {}\n?",
        ],
        expect![[r#"
            1:1: this file is empty: expected `C` and the name of a litmus test
              at ""
            1:1: expected a litmus test that starts with `C`, found `X86`
              at "X86"
              note: only litmus tests in C are read, not those in assembly
            1:7: expected `{` and the initial values, found the end of the file
              at ""
            2:7: expected an initial value or `}`, found the end of the file
              at ""
              2:1: this block is still open
            2:3: there is no thread in this litmus test
              at ""
              note: write at least one thread: `P0(atomic_int* x) { … }`
            2:10: `x` has two initial values
              at "2"
              2:5: the first one
            2:5: expected a number, found `y`
              at "y"
            2:5: the number 70000 is too large: values go up to 32767
              at "70000"
            2:3: there is no thread 1
              at "1"
            3:15: expected `*` after the type: threads take pointers to locations, found `x`
              at "x"
            3:4: expected a parameter such as `atomic_int* x`, found `x`
              at "x"
            3:12: the parameter `x` is declared twice
              at "int* x"
            4:4: `x` is atomic in one thread and plain in another
              at "atomic_int* x"
              3:4: declared differently here
            4:1: the thread `P0` is declared twice
              at "P0"
              3:1: first declared here
            4:1: expected a thread or the final condition, found `?`
              at "?"
        "#]],
    );
}

#[test]
fn litmus_statements() {
    c_statements(
        &[
            "r0 = 1",
            "r0 = atomic_load_explicit(x, memory_order_release);",
            "atomic_store_explicit(x, 1, memory_order_acquire);",
            "r0 = atomic_load_explicit(x, acquire);",
            "r0 = atomic_load_explicit(x);",
            "r0 = atomic_load(d);",
            "r0 = atomic_load(y);",
            "r0 = atomic_fetch_or(x, 1);",
            "r0 = x;",
            "r2 = 1;",
            "int r0 = 2;",
            "int x = 2;",
            "int* p = x;",
            "if (r0) { int r2 = 1; } r0 = r2;",
            "for (;;) {}",
            "goto out;",
            "r0 = atomic_store(x, 1);",
            "atomic_compare_exchange_strong(x, r0, 1);",
        ],
        expect![[r#"
            3:7: expected `;` after this statement, found `}`
              at ""
            3:30: a load cannot have mode `rel`
              at "memory_order_release"
              note: it can have `rlx`, `acq` or `sc`
            3:29: a store cannot have mode `acq`
              at "memory_order_acquire"
              note: it can have `rlx`, `rel` or `sc`
            3:30: expected a memory order such as `memory_order_acquire`, found `acquire`
              at "acquire"
            3:28: expected `,` before the memory order, found `)`
              at ")"
            3:18: `atomic_load` needs an atomic location, but `d` is declared plain
              at "d"
              note: declare it `atomic_int*`
            3:18: unknown location `y`
              at "y"
              note: locations are parameters of the thread: `P0(atomic_int* x)`
            3:6: unknown function `atomic_fetch_or`
              at "atomic_fetch_or"
              note: atomic loads, stores, exchanges, additions and compare-exchanges are known
            3:6: `x` is a pointer to a location
              at "x"
              note: write `*x`, or use an atomic operation
            3:1: unknown variable `r2`
              at "r2"
              note: declare variables in the thread: `int r0;`
            3:5: the variable `r0` is declared twice
              at "r0"
              2:37: first declared here
            3:5: `x` already names a parameter of this thread
              at "x"
            3:4: pointer variables are not supported
              at "*"
            3:30: unknown variable `r2`
              at "r2"
              note: declare variables in the thread: `int r0;`
            3:1: `for` is not supported in litmus tests
              at "for"
            3:6: unknown label `out`
              at "out"
            3:1: a store gives no value
              at "r0 = atomic_store(x, 1)"
            3:35: expected `&` before the variable with the expected value, found `r0`
              at "r0"
        "#]],
    );
    c_statements(
        &["atomic_compare_exchange_strong_explicit(x, &r0, 1, memory_order_acq_rel, memory_order_release);"],
        expect![[r#"
            3:74: a failed compare-and-swap cannot have mode `rel`
              at "memory_order_release"
              note: it can have `rlx`, `acq` or `sc`
        "#]],
    );
    c_statements(
        &[
            "do { r0 = 1; } until (r0);",
            "r0 = 65536;",
            &"if (r0) {".repeat(100),
            &format!("r0 = {}1;", "!".repeat(100)),
        ],
        expect![[r#"
            3:16: expected `while` after the body of `do`, found `until`
              at "until"
            3:6: the number 65536 is too large: values go up to 32767
              at "65536"
            3:549: statements are nested too deeply: more than 60 levels
              at "{"
            3:67: this expression is nested too deeply: more than 60 levels
              at "!"
        "#]],
    );
}

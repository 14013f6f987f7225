//! Every kind of bad TPL gets one message, at the right place; and so does what is no program at all.

use crate::common::all_fail;
use expect_test::{Expect, expect};
use seqcst_model::Model;
use seqcst_program::{lower, parse, print};

fn tpl(sources: &[&str], expected: Expect) {
    all_fail("test.tpl", &sources.iter().map(|s| s.as_bytes().to_vec()).collect::<Vec<_>>(), expected);
}

/// Errors inside a thread with two atomic locations, a non-atomic one, and two registers.
fn statements(sources: &[&str], expected: Expect) {
    let wrap = |s: &&str| {
        format!("max_value 5; global x, counter; na d; fn f {{ local r, total;\n{s}\n}}").into_bytes()
    };
    all_fail("test.tpl", &sources.iter().map(wrap).collect::<Vec<_>>(), expected);
}

#[test]
fn files_without_a_program() {
    tpl(
        &["", "\n  // nothing but a comment\n", "global x;", "hello world"],
        expect![[r#"
            1:1: this file is empty
              at ""
              note: write at least one thread: `fn name { … }`
            3:1: this file is empty
              at ""
              note: write at least one thread: `fn name { … }`
            1:10: there is no thread in this program
              at ""
              note: write at least one thread: `fn name { … }`
            1:1: expected a program, found `hello`
              at "hello"
              note: a TPL program starts with `max_value`, `global`, `na` or `fn`
        "#]],
    );
    let binary = [b"\x7fELF\x02\x01\x01\x00\x00".to_vec(), b"global x;\nfn f { \xff\xfe }".to_vec()];
    all_fail(
        "program",
        &binary,
        expect![[r#"
            1:8: this is not a text file: byte 7 is 0x00
              at ""
            2:8: this is not a text file: byte 17 is 0xff
        "#]],
    );
    all_fail(
        "program.c",
        &[b"#include <stdatomic.h>".to_vec()],
        expect![[r##"
        1:1: unexpected character '#'
          at "#"
    "##]],
    );
    tpl(
        &["fn f { /* never closed }", "fn f { r = \u{e9}; }"],
        expect![[r#"
        1:8: this comment is never closed
          at "/*"
          note: close it with `*/`
        1:12: unexpected character 'é'
          at "é"
    "#]],
    );
}

#[test]
fn missing_punctuation() {
    statements(
        &[
            "x.store(1)\nr = x.load();",
            "r = r + 1 total = 2;",
            "r = x.load() + 1;",
            "x.store(1;",
            "if (r == 1 { skip; }",
            "while (r) {",
            "oneof { skip; } { skip; };",
        ],
        expect![[r#"
            2:11: expected `;` after this statement, found `r`
              at ""
            2:10: expected `;` after this statement, found `total`
              at ""
            2:13: expected `;` after this statement, found `+`
              at ""
              note: an access stands alone: assign it to a register, then compute with the register
            2:10: expected `)` after the arguments of `store`, found `;`
              at ";"
            2:12: expected `)` after this expression, found `{`
              at "{"
            3:2: expected a statement or `}`, found the end of the file
              at ""
              1:44: this block is still open
            2:7: expected `(` after `oneof`, found `{`
              at "{"
        "#]],
    );
    tpl(
        &[
            "global x\nfn f { skip; }",
            "fn f { skip;\nfn g { skip; }",
            "max_value; fn f { skip; }",
            "fn f[] { skip; }",
        ],
        expect![[r#"
            1:9: expected `;` after this declaration, found `fn`
              at ""
            2:1: expected a statement or `}`, found `fn`
              at "fn"
              1:6: this block is still open
            1:10: expected a number after `max_value`, found `;`
              at ";"
            1:6: expected the number of instances, found `]`
              at "]"
        "#]],
    );
}

#[test]
fn not_a_statement() {
    statements(
        &[
            "r == 1;",
            "r;",
            "else skip;",
            "x.foo();",
            "x.load(foo);",
            "fence(foo);",
            "r = (x.load() == 1);",
            "r = 1 + CAS(x, 0, 1);",
            "r = x.store(1);",
            "r = ;",
            "skip; local late;",
            "goto while;",
            "r = 12ab;",
            "r = 99999999999;",
            "BCAS(x, 0, 1, acq, rel, rlx);",
        ],
        expect![[r#"
            2:3: expected `=`, `.` or `:` after `r`, found `==`
              at "=="
            2:2: expected `=`, `.` or `:` after `r`, found `;`
              at ";"
            2:1: expected a statement, found `else`
              at "else"
            2:3: expected `load`, `store`, `naload` or `nastore`, found `foo`
              at "foo"
            2:8: expected a mode (`rlx`, `acq`, `rel`, `acq_rel` or `sc`), found `foo`
              at "foo"
            2:7: expected `acq`, `rel`, `acq_rel` or `seq_cst`, found `foo`
              at "foo"
              note: `fence` alone is an SC fence
            2:6: an access to a shared location cannot stand inside an expression
              at "x"
              note: assign it to a register first, then use the register
            2:9: an access to a shared location cannot stand inside an expression
              at "CAS"
              note: assign it to a register first, then use the register
            2:1: a store gives no value
              at "r = x.store(1)"
            2:5: expected an expression, found `;`
              at ";"
            2:7: registers are declared at the start of a thread
              at "local"
              note: move this `local` to just after the `{` of its thread
            2:6: expected a label, found the reserved word `while`
              at "while"
            2:5: `12ab` is not a number
              at "12ab"
            2:5: the number `99999999999` is too large
              at "99999999999"
            2:23: expected `)` after the arguments of `BCAS`, found `,`
              at ","
        "#]],
    );
}

#[test]
fn unknown_names() {
    statements(
        &[
            "y.store(1);",
            "conuter.store(1);",
            "q = 1;",
            "total = totl + 1;",
            "goto nowhere;",
            "start: goto strat;",
            "x = 1;",
            "r = x;",
            "r = d + 1;",
        ],
        expect![[r#"
            2:1: unknown location `y`
              at "y"
            2:1: unknown location `conuter`
              at "conuter"
              note: did you mean `counter`?
            2:1: unknown register `q`
              at "q"
              note: declare it at the start of the thread: `local q;`
            2:9: unknown register `totl`
              at "totl"
              note: did you mean `total`?
            2:6: unknown label `nowhere`
              at "nowhere"
            2:13: unknown label `strat`
              at "strat"
              note: did you mean `start`?
            2:1: `x` is a location, not a register
              at "x"
              note: write `x.store(…)` to change it
            2:5: `x` is a location, not a register
              at "x"
              note: read it into a register first: `r = x.load();`
            2:5: `d` is a location, not a register
              at "d"
              note: read it into a register first: `r = d.naload();`
        "#]],
    );
    tpl(
        &["global x; track y: 1; fn f { skip; }", "fn f[2] { local r; f = 1; }", "fn f { local r; r = f; }"],
        expect![[r#"
            1:17: unknown location `y`
              at "y"
            1:20: `f` is the number of this thread and cannot be changed
              at "f"
            1:21: unknown register `f`
              at "f"
              note: declare it at the start of the thread: `local f;`
        "#]],
    );
}

#[test]
fn duplicate_names() {
    tpl(
        &[
            "global x, y, x; fn f { skip; }",
            "global x;\nna x;\nfn f { skip; }",
            "fn f { skip; }\nfn f { skip; }",
            "fn f { local r, s, r; skip; }",
            "global x; fn f { local x; skip; }",
            "fn f[2] { local f; skip; }",
        ],
        expect![[r#"
            1:14: the location `x` is declared twice
              at "x"
              1:8: first declared here
            2:4: the location `x` is declared twice
              at "x"
              1:8: first declared here
            2:4: the thread `f` is declared twice
              at "f"
              1:4: first declared here
            1:20: the register `r` is declared twice
              at "r"
              1:14: first declared here
            1:24: `x` already names a location
              at "x"
              1:8: the location
            1:17: `f` already stands for the number of this thread
              at "f"
              1:4: the replicated thread
        "#]],
    );
    statements(
        &["l: skip;\nif (r) { l: skip; }"],
        expect![[r#"
        3:10: the label `l` is declared twice
          at "l"
          2:1: first declared here
    "#]],
    );
    tpl(
        &["max_value 3; max_value 4; fn f { skip; }", "global fn; fn f { skip; }"],
        expect![[r#"
        1:14: `max_value` is given twice
          at "max_value 4"
          1:11: first given here
        1:8: expected the name of a location, found the reserved word `fn`
          at "fn"
    "#]],
    );
}

#[test]
fn wrong_modes() {
    statements(
        &[
            "r = x.load(rel);",
            "r = x.load(acq_rel);",
            "x.store(1, acq);",
            "x.store(1, acq_rel);",
            "wait(x, 1, rel);",
            "fence(rlx);",
            "FADD(x, 1, rel, acq);",
            "CAS(x, 0, 1, acq, acq);",
            "CAS(x, 0, 1, acq, rel, rel);",
            "r = x.naload();",
            "x.nastore(1);",
            "r = d.load();",
            "lock(d);",
            "BCAS(d, 0, 1);",
        ],
        expect![[r#"
            2:12: a load cannot have mode `rel`
              at "rel"
              note: it can have `rlx`, `acq` or `sc`
            2:12: a load cannot have mode `acq_rel`
              at "acq_rel"
              note: it can have `rlx`, `acq` or `sc`
            2:12: a store cannot have mode `acq`
              at "acq"
              note: it can have `rlx`, `rel` or `sc`
            2:12: a store cannot have mode `acq_rel`
              at "acq_rel"
              note: it can have `rlx`, `rel` or `sc`
            2:12: a `wait` cannot have mode `rel`
              at "rel"
              note: it can have `rlx`, `acq` or `sc`
            2:7: a fence cannot have mode `rlx`
              at "rlx"
              note: it can have `acq`, `rel`, `acq_rel` or `seq_cst`
            2:12: the read half of a read-modify-write cannot have mode `rel`
              at "rel"
              note: it can have `rlx`, `acq` or `sc`
            2:19: the write half of a read-modify-write cannot have mode `acq`
              at "acq"
              note: it can have `rlx`, `rel` or `sc`
            2:24: a failed compare-and-swap cannot have mode `rel`
              at "rel"
              note: it can have `rlx`, `acq` or `sc`
            2:5: `naload` is a non-atomic access, but `x` is an atomic location
              at "x"
              1:21: declared here
              note: use `load`, or declare `x` with `na`
            2:1: `nastore` is a non-atomic access, but `x` is an atomic location
              at "x"
              1:21: declared here
              note: use `store`, or declare `x` with `na`
            2:5: `load` is an atomic access, but `d` is a non-atomic location
              at "d"
              1:36: declared `na` here
              note: use `naload`, or declare `d` with `global`
            2:6: `lock` is an atomic access, but `d` is a non-atomic location
              at "d"
              1:36: declared `na` here
              note: declare `d` with `global`
            2:6: `BCAS` is an atomic access, but `d` is a non-atomic location
              at "d"
              1:36: declared `na` here
              note: declare `d` with `global`
        "#]],
    );
}

#[test]
fn values_out_of_range() {
    tpl(
        &[
            "max_value 5; global x = 6; fn f { skip; }",
            "global x = -1; fn f { skip; }",
            "max_value 5; global x; track x: 0, 7; fn f { skip; }",
            "max_value 0; fn f { skip; }",
            "max_value 65536; fn f { skip; }",
            "max_value 2; fn f[4] { local r; r = f; }",
            "fn f[0] { skip; }",
        ],
        expect![[r#"
            1:25: the initial value 6 is not between 0 and 5
              at "6"
              note: `max_value` sets the largest value (255 if not given)
            1:12: the initial value -1 is not between 0 and 255
              at "-1"
              note: `min_value` sets the smallest value (0 if not given)
            1:36: the tracked value 7 is not between 0 and 5
              at "7"
              note: `max_value` sets the largest value (255 if not given)
            1:11: `max_value` must be between 1 and 65535
              at "0"
            1:11: `max_value` must be between 1 and 65535
              at "65536"
            1:37: the thread's number goes up to 3, over the largest value 2
              at "f"
              note: raise `max_value`
            1:6: a thread needs at least one instance
              at "0"
        "#]],
    );
}

#[test]
fn limits() {
    tpl(
        &["fn f[33] { skip; }"],
        expect![[r#"
        1:6: too many threads: at most 32
          at "33"
    "#]],
    );
    let names =
        |prefix: &str, count| (0..count).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    tpl(
        &[
            &format!("global {};\nfn f {{ skip; }}", names("x", 64)),
            &format!("fn f {{ local {}; }}", names("r", 1025)),
        ],
        expect![[r#"
            1:313: too many locations: at most 63
              at "x63"
            1:6072: too many registers in this thread: at most 1024
              at "r1024"
        "#]],
    );
    statements(
        &[
            &format!("r = {}1{};", "(".repeat(300), ")".repeat(300)),
            &format!("r = {}1;", "!".repeat(300)),
            &format!("r = 1{};", "\n+ 1".repeat(300)),
            &"if (r) {".repeat(300),
            &"while (r) ".repeat(300),
            &"oneof ({".repeat(300),
        ],
        expect![[r#"
            2:206: this expression is nested too deeply: more than 200 levels
              at "("
            2:206: this expression is nested too deeply: more than 200 levels
              at "!"
            203:1: this expression is nested too deeply: more than 200 levels
              at "+"
            2:1609: statements are nested too deeply: more than 200 levels
              at "if"
            2:2011: statements are nested too deeply: more than 200 levels
              at "while"
            2:1609: statements are nested too deeply: more than 200 levels
              at "oneof"
        "#]],
    );
    let long = "a".repeat(200);
    let error = parse(format!("global {long};").as_bytes(), "").expect_err("too long a name");
    expect!["this name is too long: more than 100 characters"].assert_eq(error.message());
}

/// Nothing overflows the stack: neither what is refused for its depth nor the deepest that is accepted.
#[test]
fn depth_fits_a_small_stack() {
    let work = || {
        let blocks = |body: &str| format!("{}{body}{}", "if (r) {".repeat(200), "}".repeat(200));
        let thread = |body: &str| format!("fn f {{ local r; {} }}", blocks(body));
        let accepted = [
            thread(&format!("r = {}r;", "!".repeat(199))),
            thread(&format!("r = {}r{};", "r-(".repeat(199), ")".repeat(199))),
            thread(&format!("r = r{};", "-r".repeat(199))),
        ];
        for source in &accepted {
            let program = parse(source.as_bytes(), "").expect("within the limits").program;
            let printed = print(&program);
            assert_eq!(parse(printed.as_bytes(), "").expect("still within the limits").program, program);
            lower(&program, Model::Rc20).expect("programs are checked against this model");
        }
        let every_level = "1||1&&1|1^1&1==1<1<<1+1*(";
        let refused = thread(&format!("r = {}", every_level.repeat(1000)));
        assert!(parse(refused.as_bytes(), "").is_err());
        let refused =
            format!("C t\n{{}}P0() {{ int r; {} r = {}", "if (r) {".repeat(60), every_level.repeat(1000));
        assert!(parse(refused.as_bytes(), "").is_err());
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn huge_files_are_refused_quickly() {
    let start = std::time::Instant::now();
    let huge: [(&str, String); 9] = [
        ("statements", format!("fn f {{ {} }}", "skip; ".repeat(2_000_000))),
        ("expression", format!("fn f {{ local r; r = {}1; }}", "1+".repeat(5_000_000))),
        ("parentheses", format!("fn f {{ local r; r = {}", "(".repeat(10_000_000))),
        ("locations", format!("global {}x;", "x,".repeat(5_000_000))),
        ("threads", "fn f { }".repeat(1_200_000)),
        ("word", format!("fn {}", "f".repeat(10_000_000))),
        ("number", format!("max_value {};", "9".repeat(10_000_000))),
        ("branches", format!("fn f {{ oneof ({}); }}", "{}".repeat(5_000_000))),
        ("empty statements", format!("fn f {{ {} }}", ";".repeat(10_000_000))),
    ];
    let mut messages = String::new();
    for (what, source) in &huge {
        let outcome = match parse(source.as_bytes(), "huge.tpl") {
            Ok(_) => "accepted".to_string(),
            Err(error) => error.message().to_string(),
        };
        messages += &format!("{what}: {outcome}\n");
    }
    let comment = format!("// {}\nfn f {{ skip; }}", "x".repeat(10_000_000));
    assert!(parse(comment.as_bytes(), "").is_ok(), "a large comment is no large program");
    let over = vec![b' '; (64 << 20) + 1];
    messages += &format!("spaces: {}\n", parse(&over, "").expect_err("over the limit"));
    expect![[r#"
        statements: this program is too large: it has more than 100000 statements and operands
        expression: this expression is nested too deeply: more than 200 levels
        parentheses: this expression is nested too deeply: more than 200 levels
        locations: this program is too large: it has more than 100000 statements and operands
        threads: the thread `f` is declared twice
        word: this name is too long: more than 100 characters
        number: the number `999999999999999999999999999999999999999…` is too large
        branches: this program is too large: it has more than 100000 statements and operands
        empty statements: accepted
        spaces: this file is too large: more than 64 MiB
    "#]]
    .assert_eq(&messages);
    assert!(start.elapsed().as_secs() < 60, "took {:?}", start.elapsed());
}

#[test]
fn warnings_do_not_stop() {
    let source = b"max_value 5; global x; fn f { local r; x.store(666); r = CAS(x, 9, 1, acq, rel, rlx); }";
    let parsed = parse(source, "").expect("a program with warnings");
    let lines: Vec<String> = parsed
        .warnings
        .iter()
        .map(|w| {
            format!("{:?} {:?} {w}", w.line_column(source), std::str::from_utf8(&source[w.span().range()]))
        })
        .collect();
    expect![[r#"
        (1, 48) Ok("666") the constant 666 is over the largest value 5 and wraps to 0
        (1, 65) Ok("9") the constant 9 is over the largest value 5 and wraps to 3"#]]
    .assert_eq(&lines.join("\n"));
}

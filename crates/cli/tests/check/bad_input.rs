//! Bad input: one message with its place, exit code 2, nothing else.

use crate::{Folder, MP};
use expect_test::{Expect, expect};

/// The message about a file, in both formats.
fn check(name: &str, contents: impl AsRef<[u8]>, expected: Expect) {
    let folder = Folder::new(name).with(&format!("{name}.tpl"), contents);
    let file = format!("{name}.tpl");
    let text = folder.seqcst(&["check", &file]);
    let json = folder.seqcst(&["check", "--format", "json", &file]);
    for run in [&text, &json] {
        assert_eq!(run.code(), 2);
        assert_eq!(run.stdout(), "");
    }
    assert_eq!(text.stderr(), json.stderr());
    expected.assert_eq(&text.stderr());
    assert_eq!(folder.names(), [file]);
}

#[test]
fn empty_file() {
    check(
        "empty",
        "",
        expect![[r#"
        empty.tpl:1:1: error: this file is empty
          note: write at least one thread: `fn name { … }`
    "#]],
    );
}

#[test]
fn binary_file() {
    check(
        "binary",
        b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe",
        expect![[r#"
        binary.tpl:1:11: error: this is not a text file: byte 10 is 0xff
    "#]],
    );
    check(
        "latin1",
        b"global x;\n// caf\xe9\n",
        expect![[r#"
        latin1.tpl:2:7: error: this is not a text file: byte 16 is 0xe9
    "#]],
    );
}

#[test]
fn unknown_identifier() {
    check(
        "unknown",
        "global x;\nfn f {\n    local r;\n    r = z.load();\n}\n",
        expect![[r#"
        unknown.tpl:4:9: error: unknown location `z`
           ╭─[ unknown.tpl:4:9 ]
           │
         4 │     r = z.load();
           │         ┬
           │         ╰── here
        ───╯
    "#]],
    );
}

#[test]
fn load_release() {
    check(
        "mode",
        "global x;\nfn f {\n    local r;\n    r = x.load(rel);\n}\n",
        expect![[r#"
        mode.tpl:4:16: error: a load cannot have mode `rel`
           ╭─[ mode.tpl:4:16 ]
           │
         4 │     r = x.load(rel);
           │                ─┬─
           │                 ╰─── here
        ───╯
          note: it can have `rlx`, `acq` or `sc`
    "#]],
    );
}

#[test]
fn missing_semicolon() {
    check(
        "semicolon",
        "global x;\nfn f {\n    x.store(1)\n    x.store(2);\n}\n",
        expect![[r#"
        semicolon.tpl:3:15: error: expected `;` after this statement, found `x`
           ╭─[ semicolon.tpl:3:15 ]
           │
         3 │     x.store(1)
           │               │
           │               ╰─ here
        ───╯
    "#]],
    );
}

#[test]
fn value_too_large() {
    check(
        "value",
        "max_value 3;\nglobal x = 4;\nfn f { x.store(1); }\n",
        expect![[r#"
        value.tpl:2:12: error: the initial value 4 is not between 0 and 3
           ╭─[ value.tpl:2:12 ]
           │
         2 │ global x = 4;
           │            ┬
           │            ╰── here
        ───╯
          note: `max_value` sets the largest value (255 if not given)
    "#]],
    );
}

#[test]
fn duplicate_name() {
    check(
        "twice",
        "global x, y, x;\nfn f { x.store(1); }\n",
        expect![[r#"
        twice.tpl:1:14: error: the location `x` is declared twice
           ╭─[ twice.tpl:1:14 ]
           │
         1 │ global x, y, x;
           │        ┬     ┬
           │        ╰──────── first declared here
           │              │
           │              ╰── here
        ───╯
    "#]],
    );
}

/// Places are counted in characters, whatever they are.
#[test]
fn beyond_ascii() {
    check(
        "unicode",
        "global x;\n// ∀ñ\t日本\nfn f { /* ∃ */ q.store(1); }\n",
        expect![[r#"
        unicode.tpl:3:16: error: unknown location `q`
           ╭─[ unicode.tpl:3:16 ]
           │
         3 │ fn f { /* ∃ */ q.store(1); }
           │                ┬
           │                ╰── here
        ───╯
    "#]],
    );
}

/// A line that no terminal shows is not shown.
#[test]
fn long_line() {
    let source = format!("global x;\nfn f {{ {} y.store(1); }}\n", "x.store(1); ".repeat(100));
    check(
        "line",
        source,
        expect![[r#"
        line.tpl:2:1209: error: unknown location `y`
    "#]],
    );
}

/// Neither the terminal's escape sequences nor anything else in a file is obeyed.
#[test]
fn escape_sequences() {
    check(
        "escape",
        "global x;\nfn f { \x1b[31mx.store(1); }\n",
        expect![[r#"
        escape.tpl:2:8: error: unexpected character '\u{1b}'
           ╭─[ escape.tpl:2:8 ]
           │
         2 │ fn f { ?[31mx.store(1); }
           │        ┬
           │        ╰── here
        ───╯
    "#]],
    );
}

#[test]
fn odd_names() {
    let folder = Folder::new("names");
    let run = folder.seqcst(&["check", "\x1b[2J\n.tpl"]);
    assert_eq!((run.code(), run.stderr().as_str()), (2, "?[2J?.tpl: error: no such file\n"));
}

#[test]
fn large_file() {
    let source = format!("global x;\nfn f {{\n{}}}\n", "    x.store(1); // again\n".repeat(10 << 20 >> 4));
    assert!(source.len() > 10 << 20);
    let folder = Folder::new("large").with("large.tpl", source);
    let run = folder.seqcst(&["check", "large.tpl"]);
    assert_eq!((run.code(), run.stdout().as_str()), (2, ""));
    assert!(run.stderr().starts_with("large.tpl:") && run.stderr().len() < 1000, "{}", run.stderr());
}

#[test]
fn no_file_at_all() {
    let folder = Folder::new("none").with("mp.tpl", MP);
    std::fs::create_dir(folder.path("dir.tpl")).expect("a directory");
    let run = folder.seqcst(&["check", "--format", "json", "nothing.tpl", "dir.tpl", "mp.tpl"]);
    assert_eq!(run.code(), 2);
    expect![[r#"
        nothing.tpl: error: no such file
        dir.tpl: error: this is a directory; name the files in it
    "#]]
    .assert_eq(&run.stderr());
    assert_eq!(run.json().len(), 1, "the others are checked all the same");
}

/// Warnings are for those who read text.
#[test]
fn warnings() {
    let folder = Folder::new("warnings").with("w.tpl", "max_value 3;\nglobal x;\nfn f { x.store(4); }\n");
    let text = folder.seqcst(&["check", "w.tpl"]);
    assert_eq!(text.code(), 0);
    expect![[r#"
        w.tpl:3:16: warning: the constant 4 is over the largest value 3 and wraps to 0
    "#]]
    .assert_eq(&text.stderr());
    assert_eq!(folder.seqcst(&["check", "--format", "json", "w.tpl"]).stderr(), "");
}

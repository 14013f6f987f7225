//! Answers: exit codes, text, JSON.

use crate::{Folder, MP, SB};
use expect_test::expect;

#[test]
fn exit_codes() {
    let folder = Folder::new("codes").with("sb.tpl", SB).with("mp.tpl", MP).with("bad.tpl", "what?");
    assert_eq!(folder.seqcst(&["check", "mp.tpl"]).code(), 0);
    assert_eq!(folder.seqcst(&["check", "sb.tpl"]).code(), 1);
    assert_eq!(folder.seqcst(&["check", "bad.tpl"]).code(), 2);
    assert_eq!(folder.seqcst(&["check", "--model", "sc", "sb.tpl"]).code(), 0);
    assert_eq!(folder.seqcst(&["check", "--model", "tso", "mp.tpl", "sb.tpl"]).code(), 1);
    assert_eq!(folder.seqcst(&["check", "mp.tpl", "bad.tpl", "sb.tpl"]).code(), 2);
}

#[test]
fn usage() {
    let folder = Folder::new("usage").with("mp.tpl", MP);
    for bad in [
        &["check"][..],
        &["check", "--model", "power", "mp.tpl"],
        &["check", "--timeout", "soon", "mp.tpl"],
        &["check", "--max-states", "0", "mp.tpl"],
        &["check", "--max-memory", "lots", "mp.tpl"],
        &["check", "--threads", "0", "mp.tpl"],
        &["check", "--no-such-flag", "mp.tpl"],
        &["chekc", "mp.tpl"],
        &[],
    ] {
        let run = folder.seqcst(bad);
        assert_eq!(run.code(), 2, "{bad:?}");
        assert!(run.stdout().is_empty() && !run.stderr().is_empty(), "{bad:?}");
    }
    for good in [&["--version"][..], &["--help"], &["check", "--help"], &["check", "-h"]] {
        let run = folder.seqcst(good);
        assert_eq!(run.code(), 0, "{good:?}");
        assert!(run.stderr().is_empty());
    }
    assert!(folder.seqcst(&["--version"]).stdout().starts_with("seqcst 0."));
    let help = folder.seqcst(&["check", "--help"]).stdout();
    for flag in
        ["--model", "--format", "--deadlock", "--max-states", "--timeout", "--max-memory", "--threads"]
            .iter()
            .chain(&[
                "--no-symmetry",
                "--no-por",
                "--no-abstraction",
                "--svg",
                "--dot",
                "--color",
                "Exit codes",
            ])
    {
        assert!(help.contains(flag), "{flag}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 120), "{help}");
}

#[test]
fn text() {
    let folder = Folder::new("text").with("sb.tpl", SB).with("mp.tpl", MP);
    let run = folder.seqcst(&["check", "mp.tpl", "sb.tpl", "mp.tpl"]);
    assert_eq!(run.stderr(), "");
    let out = run.stdout();
    assert!(!out.contains('\x1b'), "no colors in a pipe");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("robust: mp.tpl under rc11 — "), "{out}");
    assert_eq!(lines[1], "", "an empty line around what takes more than one");
    assert_eq!(lines[2], "not robust: sb.tpl under rc11");
    assert!(lines[lines.len() - 1].starts_with("robust: mp.tpl") && lines[lines.len() - 2].is_empty());
    assert!(out.contains("it may still read 0 from the initial write"), "{out}");
}

#[test]
fn colors() {
    let folder = Folder::new("colors").with("sb.tpl", SB);
    let colored = |args: &[&str]| folder.seqcst(args).stdout().contains('\x1b');
    assert!(colored(&["check", "--color", "always", "sb.tpl"]));
    assert!(!colored(&["check", "--color", "never", "sb.tpl"]));
    assert!(!colored(&["check", "--color", "always", "--format", "json", "sb.tpl"]));
}

#[test]
fn json() {
    let folder = Folder::new("json").with("sb.tpl", SB).with("mp.tpl", MP).with("bad.tpl", "what?");
    let run = folder.seqcst(&["check", "--format", "json", "sb.tpl", "bad.tpl", "mp.tpl"]);
    assert_eq!(run.code(), 2);
    let [sb, mp] = &run.json()[..] else { panic!("{}", run.stdout()) };
    assert_eq!(
        (&sb["file"], &sb["verdict"], &sb["model"]),
        (&"sb.tpl".into(), &"not-robust".into(), &"rc11".into())
    );
    assert_eq!(
        (&mp["file"], &mp["verdict"], &mp["threads"]),
        (&"mp.tpl".into(), &"robust".into(), &2.into())
    );
    assert!(sb["states"].as_u64() > Some(0) && sb["seconds"].as_f64() >= Some(0.0));
    assert!(mp.get("witness").is_none());
    let witness = &sb["witness"];
    assert_eq!(witness["problem"]["kind"], "stale");
    assert_eq!(witness["steps"].as_array().map(Vec::len), Some(4));
    assert_eq!((&witness["steps"][3]["line"], &witness["steps"][3]["column"]), (&12.into(), &5.into()));
    expect![[r#"step 4, `b = x.load()` in right (line 12): under SC it must read 1 from step 1, because step 1 →po step 2 →fr step 3 →po step 4; under rc11 it may still read 0 from the initial write: nothing synchronises step 1 with right (no happens-before)"#]]
    .assert_eq(witness["problem"]["message"].as_str().unwrap_or_default());
}

#[test]
fn races_and_assertions() {
    let folder = Folder::new("others")
        .with("race.tpl", "na d; fn a { d.nastore(1); } fn b { local r; r = d.naload(); }")
        .with("assert.tpl", "global x; fn a { x.store(1); } fn b { local r; r = x.load(); assert(r == 1); }")
        .with("start.tpl", "global x; fn a { local r; assert(r == 1); x.store(1); }");
    for (file, verdict) in [("race.tpl", "race"), ("assert.tpl", "assertion"), ("start.tpl", "assertion")] {
        for model in ["sc", "ra", "rc11", "rc20"] {
            let run = folder.seqcst(&["check", "--format", "json", "--model", model, file]);
            assert_eq!((run.code(), &run.json()[0]["verdict"]), (1, &verdict.into()), "{file} {model}");
            assert_eq!(folder.seqcst(&["check", "--model", model, file]).code(), 1);
        }
    }
}

#[test]
fn litmus_files() {
    let sb = "C SB\n{}\nP0(atomic_int* x, atomic_int* y) {\n  atomic_store_explicit(x, 1, memory_order_relaxed);\n  \
              int r0 = atomic_load_explicit(y, memory_order_relaxed);\n}\n\
              P1(atomic_int* x, atomic_int* y) {\n  atomic_store_explicit(y, 1, memory_order_relaxed);\n  \
              int r0 = atomic_load_explicit(x, memory_order_relaxed);\n}\nexists (0:r0=0 /\\ 1:r0=0)\n";
    let folder = Folder::new("litmus").with("sb.litmus", sb).with("no-name", sb);
    for file in ["sb.litmus", "no-name"] {
        let run = folder.seqcst(&["check", "--format", "json", file]);
        assert_eq!(run.json()[0]["verdict"], "not-robust", "{}", run.stderr());
    }
}

/// `seqcst check … | head -c 0` is no reason to complain.
#[test]
fn a_closed_pipe() {
    use std::process::{Command, Stdio};
    let folder = Folder::new("pipe").with("sb.tpl", SB);
    for format in ["text", "json"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_seqcst"))
            .args(["check", "--format", format, "sb.tpl", "sb.tpl"])
            .current_dir(folder.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

//! Solvers that are missing, too old, killed, late, or say that they don't know.

use super::{answers, library, scratch, text};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// A solver made of a few lines of shell; `z3` in it is the real one.
fn solver(name: &str, script: &str) -> String {
    let folder = scratch(&format!("solver-{name}"));
    let (new, path) = (folder.join("new"), folder.join("z3"));
    std::fs::write(&new, format!("#!/bin/sh\ncd '{}'\n{script}\n", folder.display()))
        .expect("can be written");
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755)).expect("can be changed");
    std::fs::rename(&new, &path).expect("can be renamed");
    path.display().to_string()
}

/// Calls `seqcst library` on a register; busy files are those that another test has just written.
#[track_caller]
fn with(name: &str, script: &str, code: i32, message: &str) {
    let path = solver(name, script);
    let start = Instant::now();
    let said = loop {
        let out = library(&[
            "--solver",
            &path,
            "--time-limit",
            "0.3",
            "--proof-limit",
            "1",
            "--workers",
            "1",
            "register-relaxed.c",
        ]);
        let said = text(&out.stdout) + &text(&out.stderr);
        if !said.contains("busy") {
            assert_eq!(out.status.code(), Some(code), "{said}");
            break said;
        }
    };
    assert!(said.contains(message), "{said}");
    assert!(start.elapsed() < Duration::from_secs(60));
}

const INTRODUCTION: &str =
    "read a; read b; read c; echo '(:name \"Z3\")'; echo '(:version \"4.8.12\")'; echo seqcst-1
while read line; do case $line in *seqcst-2*) break;; esac; done; echo seqcst-2";

#[test]
fn missing() {
    let out = library(&["--solver", "/nowhere/z3", "register.c"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        said.starts_with("error: cannot run the solver /nowhere/z3: no such program; install Z3"),
        "{said}"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/library");
    command.args(["library", "register.c"]).current_dir(corpus).env("SEQCST_Z3", "/elsewhere/z3");
    let out = command.output().expect("seqcst runs");
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("/elsewhere/z3"));
}

#[test]
fn too_old() {
    let script = "read a; read b; read c; echo '(:name \"Z3\")'; echo '(:version \"4.4.1\")'; echo seqcst-1; cat > /dev/null";
    with("old", script, 2, "is Z3 4.4.1; 4.8 or later is needed");
}

#[test]
fn not_a_solver() {
    with("ends", "exit 7", 2, "does not work as Z3 does: it ended at once (exit status: 7)");
    let script = format!(
        "{INTRODUCTION}\nwhile read line; do case $line in *seqcst-*) echo what; echo $line | tr -dc 'a-z0-9-' | sed s/echo//; echo;; esac; done"
    );
    with("nonsense", &script, 2, "it says `what");
}

#[test]
fn killed() {
    with(
        "killed",
        &format!("{INTRODUCTION}\nread line; kill -9 $$"),
        3,
        "the solver ended twice in the middle of it (signal: 9",
    );
}

#[test]
fn late() {
    with(
        "late",
        &format!("{INTRODUCTION}\nexec sleep 1000"),
        3,
        "did not keep to its limit of 0.3 s and was stopped",
    );
}

/// It answers `unknown` to everything.
#[test]
fn unknown() {
    let script = format!(
        "{INTRODUCTION}\nwhile read line; do case $line in \\(check-sat*) echo unknown;; \\(get-info*) echo '(:reason-unknown \"smt tactic failed\")';; \
         \\(echo*) echo $line | tr -dc 'a-z0-9-' | sed s/echo//; echo;; esac; done"
    );
    with("unknown", &script, 3, "the solver gave up: smt tactic failed");
}

#[test]
fn giving_up_as_json() {
    let path = solver("json", &format!("{INTRODUCTION}\nread line; kill -9 $$"));
    let (code, said) = answers(&["--solver", &path, "--workers", "1", "register.c"]);
    assert_eq!((code, &said[0]["verdict"]), (Some(3), &"gave-up".into()));
    assert!(said[0]["limit"].as_str().expect("a reason").contains("ended twice"));
}

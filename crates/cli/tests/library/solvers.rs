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

/// What has no answer may still have a client that settles it, and else the clients that were tried are told of.
#[test]
fn clients_are_tried_without_answers() {
    let path = solver("clients", &format!("{INTRODUCTION}\nread line; kill -9 $$"));
    let (code, said) = answers(&["--solver", &path, "--workers", "1", "two-registers.c"]);
    assert_eq!((code, &said[0]["verdict"]), (Some(1), &"may-be-non-robust".into()), "{said:?}");
    assert_eq!(said[0]["client"]["confirmed"], true);
    let (code, said) = answers(&["--solver", &path, "--workers", "1", "register-relaxed.c"]);
    assert_eq!((code, &said[0]["client"]["confirmed"]), (Some(3), &false.into()), "{said:?}");
    let shown = text(&library(&["--solver", &path, "--workers", "1", "register-relaxed.c"]).stdout);
    assert!(
        shown.contains("  no client shows that it is not robust: ") && !shown.contains("false alarm"),
        "{shown}"
    );
}

/// A solver that ends before the last question: whatever it has said before, nothing is known then.
#[test]
fn dying_later_is_no_refutation() {
    let mut gave_up = 0;
    for thousands in [30, 100, 200, 400, 800] {
        let name = format!("later-{thousands}");
        let script = format!(
            "if [ -e started ]; then n=600; else touch started; n={thousands}000; fi; dd bs=1 count=$n 2> /dev/null | z3 \"$@\""
        );
        let path = solver(&name, &script);
        let out = library(&["--no-try", "--solver", &path, "--workers", "1", "treiber.c"]);
        let said = text(&out.stdout);
        assert!(matches!(out.status.code(), Some(0 | 3)), "{thousands}: {said}{}", text(&out.stderr));
        gave_up += i32::from(out.status.code() == Some(3));
    }
    assert!(gave_up > 0);
}

/// The same for a limit of the proof.
#[test]
fn lateness_is_no_refutation() {
    for limit in ["0.05", "0.2", "0.4", "0.6"] {
        let out = library(&["--no-try", "--proof-limit", limit, "treiber.c"]);
        assert!(matches!(out.status.code(), Some(0 | 3)), "{limit}: {}", text(&out.stdout));
    }
}

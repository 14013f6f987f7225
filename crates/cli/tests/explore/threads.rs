//! How threads take turns: as fibers, and from kernel thread to kernel thread. It must not make a difference.

use crate::{Folder, number, root};
use serde_json::Value;

/// The environment variable that says `handoff` where fibers are not wanted.
const VARIABLE: &str = "SEQCST_EXPLORE_THREADS";

struct Program {
    folder: Folder,
    name: String,
}

impl Program {
    fn new(test: &str, file: &str) -> Program {
        let folder = Folder::new(test);
        let source = root().join("crates/cli/tests/explore/programs").join(file);
        let name = match file.strip_suffix(".cpp") {
            Some(name) => {
                let mut command = folder.seqcst_command();
                command.args(["c++", "-O1", "-g", "-std=c++20", "-pthread"]).arg(&source).args(["-o", name]);
                assert!(
                    command.env("SEQCST_CXX", "g++").status().is_ok_and(|status| status.success()),
                    "{file}"
                );
                format!("./{name}")
            }
            None => folder.compile(&source, &[]),
        };
        Program { folder, name }
    }

    /// The answer, which is the same for both.
    #[track_caller]
    fn answer(&self, flags: &str, kind: &str) -> Value {
        let run = |threads: &str| -> Value {
            let mut command = self.folder.seqcst_command();
            command
                .args(["explore", "--format", "json"])
                .args(flags.split_whitespace())
                .args([&self.name, kind]);
            let output = command.env(VARIABLE, threads).output().expect("seqcst runs");
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{kind}: {output:?}"))
        };
        let (fibers, handoff) = (run(""), run("handoff"));
        for what in ["verdict", "executions", "steps"] {
            assert_eq!(fibers[what], handoff[what], "{kind}: {what}: {fibers}\n{handoff}");
        }
        fibers
    }
}

#[test]
fn what_is_a_threads_own() {
    let program = Program::new("threads", "threads.cpp");
    for (flags, kind) in [
        ("--strategy bounded --bound 1 --no-races", "own"),
        ("--strategy random --executions 100", "own"),
        ("--strategy random --executions 3", "many"),
        ("--strategy dpor", "library"),
    ] {
        let answer = program.answer(flags, kind);
        let fine = ["robust", "nothing-found"].contains(&answer["verdict"].as_str().unwrap_or_default());
        assert!(fine, "{kind}: {answer}");
    }
}

/// All schedules, of which there are few: a thread that goes round in circles waits until something changes. One that
/// only looks as if it did, doesn't.
#[test]
fn spin_loops() {
    let program = Program::new("spins", "spins.c");
    for (kind, distinct) in [
        ("load", 2),
        ("yield", 2),
        ("fences", 2),
        ("two", 2),
        ("recursion", 3),
        ("swap", 2),
        ("exchange", 6),
        ("politely", 10),
        ("counted", 11),
        ("memory", 12),
        ("formatted", 12),
        ("drawn", 9),
        ("thread-local", 2),
    ] {
        for strategy in ["dpor", "bounded --bound 50"] {
            let answer = program.answer(&format!("--model sc --strategy {strategy}"), kind);
            assert_eq!(answer["exhausted"], true, "{kind}, {strategy}: {answer}");
            assert_eq!(number(&answer, "distinct"), distinct, "{kind}, {strategy}: {answer}");
        }
    }
    assert_eq!(program.answer("", "for-ever")["verdict"], "livelock");
}

/// What the tool maps for itself (tables that grow, names for a report) lies apart: the program's memory is where it was.
#[test]
fn addresses() {
    let program = Program::new("addresses", "addresses.c");
    for kind in [
        "malloc", "small", "aligned", "memalign", "realloc", "mmap", "shared", "mremap", "sbrk", "shmat",
        "stack", "library", "exit",
    ] {
        for flags in ["dpor", "bounded --bound 1", "random"] {
            let flags = format!("--executions 60 --keep-going --strategy {flags}");
            let answer = program.answer(&flags, kind);
            assert_eq!(answer["verdict"], "not-robust", "{kind}, {flags}: {answer}");
        }
    }
}

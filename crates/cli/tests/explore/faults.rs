//! Programs that use every kind of lock, and programs that go wrong in every way that we could think of: each ends in a
//! clear answer, never in a hang of the tool.

use crate::{Folder, Run, number, root};
use std::time::{Duration, Instant};

/// A program of `programs/`, compiled.
struct Program {
    folder: Folder,
    name: String,
}

impl Program {
    #[track_caller]
    fn new(test: &str, file: &str) -> Program {
        let folder = Folder::new(test);
        let source = root().join("crates/cli/tests/explore/programs").join(file);
        let name = match file.split_once('.') {
            Some((name, "cpp")) => {
                let mut command = folder.seqcst_command();
                command.args(["c++", "-O1", "-g", "-std=c++20", "-pthread"]).arg(&source).args(["-o", name]);
                succeeds(command.env("SEQCST_CXX", "g++"));
                format!("./{name}")
            }
            Some((name, "rs")) => {
                let manifest = format!("[package]\nname = '{name}'\nedition = '2024'\n[workspace]\n");
                std::fs::create_dir(folder.path("src")).expect("a directory");
                std::fs::copy(source, folder.path("src/main.rs")).expect("a file");
                std::fs::write(folder.path("Cargo.toml"), manifest).expect("a file");
                let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-seqcst"));
                let target = folder.path("target");
                command.current_dir(folder.path("")).args(["seqcst", "build", "--quiet", "--offline"]);
                succeeds(command.env("CARGO_TARGET_DIR", &target));
                target.join("seqcst/x86_64-unknown-linux-gnu/debug").join(name).display().to_string()
            }
            _ => folder.compile(&source, &[]),
        };
        Program { folder, name }
    }

    fn answer(&self, flags: &str, kind: &str) -> serde_json::Value {
        let args: Vec<&str> = flags.split_whitespace().chain([&*self.name, kind]).collect();
        self.folder.answer(&args)
    }

    /// Every schedule with up to so many preemptions is fine.
    #[track_caller]
    fn is_fine(&self, bound: u32, kinds: &[&str]) {
        for kind in kinds {
            let answer = self.answer(&format!("--strategy bounded --bound {bound} --model sc"), kind);
            let fine = ["robust", "nothing-found"].contains(&answer["verdict"].as_str().unwrap_or_default());
            assert!(fine, "{kind}: {answer}");
            assert!(number(&answer, "executions") > 1 && answer["limit"].is_null(), "{kind}: {answer}");
        }
    }

    /// All schedules are fine, and there are so many that differ.
    #[track_caller]
    fn has_traces(&self, strategy: &str, kinds: &[(&str, u64)]) {
        for &(kind, traces) in kinds {
            let answer = self.answer(&format!("{strategy} --model sc"), kind);
            assert_eq!(answer["exhausted"], true, "{kind}: {answer}");
            assert_eq!(number(&answer, "distinct"), traces, "{kind}, {strategy}: {answer}");
        }
    }

    /// It goes wrong, and the answer says how, with this exit code.
    #[track_caller]
    fn ends_in(&self, flags: &str, kind: &str, code: i32, texts: &[&str]) {
        let args: Vec<&str> = flags.split_whitespace().chain([&*self.name, kind]).collect();
        let start = Instant::now();
        let run = self.folder.explore(&args);
        assert!(start.elapsed() < Duration::from_secs(60), "{kind} took {:?}", start.elapsed());
        let said = run.stdout() + &run.stderr();
        assert_eq!(run.code(), code, "{kind}: {said}");
        for text in texts {
            assert!(said.contains(text), "{kind}: no `{text}` in {said}");
        }
    }
}

#[track_caller]
fn succeeds(command: &mut std::process::Command) {
    let run = Run(command.output().expect("it runs"));
    assert_eq!(run.code(), 0, "{}{}", run.stdout(), run.stderr());
}

#[test]
fn every_kind_of_lock() {
    let program = Program::new("locks", "locks.c");
    // Who comes first is all that there is to see; and, below, how often the other one tries in vain, which depends on how
    // the loop was compiled.
    for strategy in ["--strategy dpor", "--strategy bounded --bound 100"] {
        let kinds =
            ["mutex", "recursive", "errorcheck", "robust", "inherit", "mtx", "write", "spin", "semaphore"];
        program.has_traces(strategy, &kinds.map(|kind| (kind, 2)));
        program.has_traces(strategy, &[("once", 2), ("owner-dies", 2), ("read", 4)]);
    }
    for kind in ["try", "mtx-try", "write-try", "spin-try", "semaphore-try"] {
        let all = program.answer("--strategy bounded --bound 100 --model sc", kind);
        program.has_traces("--strategy dpor", &[(kind, number(&all, "distinct"))]);
    }
    // (These numbers are those of all schedules too, which takes a minute to see.)
    program.has_traces("--strategy dpor", &[("barrier", 104)]);
    program.is_fine(2, &["barrier"]);
    // A deadline can be missed any number of times.
    program.is_fine(2, &["timed", "clock", "mtx-timed", "write-timed", "write-clock"]);
    program.is_fine(2, &["semaphore-timed", "semaphore-clock"]);
}

#[test]
fn condition_variables() {
    let program = Program::new("conditions", "conditions.c");
    program.is_fine(2, &["signal", "broadcast", "timed", "c11"]);
    program.has_traces("--strategy dpor", &[("signal", 44), ("c11", 44), ("broadcast", 68), ("timed", 228)]);
    program.ends_in("", "if", 1, &["assertion can fail", "items >= 0", "replay: seqcst explore --replay"]);
    program.ends_in("", "lost", 1, &["deadlock", "wants to be signalled at changed", "conditions.c:"]);
    program.ends_in("--strategy dpor", "lost", 1, &["deadlock"]);
}

/// What is used after its end, or destroyed before it.
#[test]
fn ended_lives() {
    let program = Program::new("ends", "ends.c");
    for (kind, problem) in [
        ("frame", "use of a stack frame that has ended"),
        ("thread", "use of the stack of a thread that has ended"),
        ("joined", "join of a thread that was joined before"),
        ("condition", "destruction of a condition variable in use"),
        ("condition-gone", "use of a destroyed condition variable"),
        ("barrier", "destruction of a barrier in use"),
        ("barrier-unmade", "use of a barrier that is not initialised"),
        ("rwlock", "destruction of a read-write lock in use"),
        ("rwlock-gone", "use of a destroyed read-write lock"),
        ("semaphore", "use of a destroyed semaphore"),
        ("semaphore-gone", "use of a destroyed semaphore"),
        ("not-locked", "unlock of a mutex that is not locked"),
        ("double-free", "double free"),
        ("free-stack", "free of what is no block"),
        ("free-variable", "free of what is no block"),
        ("realloc-freed", "double free"),
        ("realloc-old", "use after free"),
        ("string", "use after free"),
        ("wait-not-locked", "unlock of a mutex that is not locked"),
        ("signal-late", "use after free"),
        ("post-late", "use after free"),
        ("take-late", "use after free"),
        ("read-late", "use after free"),
    ] {
        let title = format!("WARNING: seqcst: {problem}");
        program.ends_in("", kind, 1, &["misuse: ", &title, "ends.c:", "replay: seqcst explore --replay"]);
        let answer = program.answer("--keep-going --executions 2000", kind);
        assert_eq!(answer["verdict"], "misuse", "{kind}: {answer}");
    }
    for kind in [
        "live",
        "vla",
        "lent",
        "jump",
        "coroutine",
        "coroutine-within",
        "signal-within",
        "condition-woken",
        "barrier-passed",
        "rwlock-again",
    ] {
        let answer = program.answer("--executions 2000", kind);
        let fine = ["robust", "nothing-found"].contains(&answer["verdict"].as_str().unwrap_or_default());
        assert!(fine && answer["limit"].is_null(), "{kind}: {answer}");
    }
}

#[test]
fn cpp() {
    let program = Program::new("cpp", "cpp.cpp");
    program
        .is_fine(2, &["mutex", "timed", "shared", "condition", "condition-timed", "future", "async", "once"]);
    program.is_fine(2, &["semaphore", "semaphore-timed"]);
    program.is_fine(1, &["latch", "barrier", "wait"]);
    program.is_fine(2, &["static", "exception", "local", "random"]);
    // What the unwinder locks is no step: there are two orders to count in.
    program.has_traces("--strategy dpor", &[("throws", 2)]);
}

#[test]
fn rust() {
    let program = Program::new("std", "std_sync.rs");
    program.is_fine(2, &["mutex", "try", "rwlock", "condvar", "condvar-timed", "barrier", "once", "lazy"]);
    program.is_fine(2, &["channel-timed", "park", "park-timed", "sleep", "hash"]);
    program.ends_in("--model sc", "local", 0, &["all schedules were tried"]);
    program.is_fine(1, &["channel", "poisoned"]);
    program.ends_in("--model sc", "panics", 1, &["bad exit code", "101"]);
    program.ends_in("--model sc", "deadlock", 1, &["deadlock"]);
}

/// Nothing is wrong with these, though they do unusual things.
#[test]
fn odd_programs() {
    let program = Program::new("odd", "faults.c");
    program.is_fine(
        2,
        &["pipe", "poll", "sleep", "main-exits", "left-behind", "detached", "locals", "sigwait", "sources"],
    );
    program.is_fine(2, &["signals", "cancel"]);
    for kind in ["fork", "exec", "pthread-exit"] {
        program.ends_in("--bound 1", kind, 0, &[]);
    }
    program.ends_in("--executions 3", "thousand", 3, &["limit of 3 executions"]);
}

#[test]
fn faults() {
    let program = Program::new("faults", "faults.c");
    program.ends_in("", "exit", 1, &["bad exit code", "exit code 7"]);
    program.ends_in("", "crash", 1, &["crash", "signal 11 (SIGSEGV)", "in crashes"]);
    program.ends_in("", "abort", 1, &["crash", "signal 6 (SIGABRT)"]);
    program.ends_in("", "code", 1, &["bad exit code", "exit code 3"]);
    program.ends_in("", "deadlock", 1, &["deadlock", "wants to lock a", "wants to lock b"]);
    program.ends_in("", "itself", 1, &["deadlock", "wants to lock a"]);
    program.ends_in("", "join-cycle", 1, &["deadlock", "wants to join thread 2"]);
    program.ends_in("", "livelock", 1, &["livelock", "spins at load flag"]);
    program.ends_in("--steps 1000", "polite", 3, &["more than 1000 steps"]);
}

/// The program doesn't come back, or isn't the same twice.
#[test]
fn out_of_hand() {
    let program = Program::new("hands", "faults.c");
    program.ends_in("--hang 1", "hang", 3, &["hangs: no step for 1 s", "in reads"]);
    program.ends_in("--hang 1", "assembly", 3, &["hangs: no step for 1 s", "in spins"]);
    program.ends_in("", "random", 3, &["isn't deterministic"]);
    program.ends_in("", "timer", 3, &["isn't deterministic"]);
}

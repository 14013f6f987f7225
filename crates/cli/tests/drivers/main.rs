//! `seqcst cc`, `seqcst c++`, `seqcst run` and `cargo seqcst`, used as people and build systems use them.
//!
//! What needs a program that is not installed (clang, CMake, autoconf) is skipped with a line that says so.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../schema/mod.rs"]
mod schema;

mod build_systems;
mod commands;
mod languages;
mod libraries;
mod programs;
mod repeat;
mod rust;

use harness::Folder;
use std::path::Path;
use std::process::{Command, Output};

/// Store buffering: both threads may miss the other's store. With `FENCED` neither may.
const DEKKER: &str = "\
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_int x, y;
static int a, b;
static void *left(void *p) {
    atomic_store_explicit(&x, 1, memory_order_relaxed); // line 7
#ifdef FENCED
    atomic_thread_fence(memory_order_seq_cst);
#endif
    a = atomic_load_explicit(&y, memory_order_relaxed); // line 11
    return p;
}
static void *right(void *p) {
    atomic_store_explicit(&y, 1, memory_order_relaxed); // line 15
#ifdef FENCED
    atomic_thread_fence(memory_order_seq_cst);
#endif
    b = atomic_load_explicit(&x, memory_order_relaxed); // line 19
    return p;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, left, NULL);
    pthread_create(&two, NULL, right, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return a + b == 0;
}
";

/// The compilers that are installed.
fn all_compilers() -> Vec<&'static str> {
    let known = ["gcc", "clang", "clang-19", "clang-16", "clang-14"];
    let there: Vec<_> = known.into_iter().filter(|name| is_installed(name)).collect();
    if !there.iter().any(|name| name.starts_with("clang")) {
        eprintln!("skipped for clang, which is not installed");
    }
    there
}

/// gcc and one clang: enough for most.
fn compilers() -> Vec<&'static str> {
    let mut compilers = all_compilers();
    compilers.truncate(2);
    compilers
}

/// The C++ compiler that belongs to a C compiler.
fn cxx(compiler: &str) -> String {
    compiler.replace("gcc", "g++").replace("clang", "clang++")
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// True if a program is there; says so if not.
fn needs(program: &str) -> bool {
    let there = is_installed(program);
    if !there {
        eprintln!("skipped: {program} is not installed");
    }
    there
}

impl Folder {
    /// A command in this directory, without the settings of whoever runs the tests.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.root());
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let ours = text.starts_with("SEQCST_") && text != "SEQCST_CACHE";
            if ours || ["CARGO_TARGET_DIR", "RUSTFLAGS", "RUST_BACKTRACE"].contains(&&*text) {
                command.env_remove(&name);
            }
        }
        command
    }

    /// `seqcst ARGS…` with this compiler doing the work.
    fn seqcst(&self, compiler: &str, args: &[&str]) -> Run {
        let mut command = self.command(env!("CARGO_BIN_EXE_seqcst"));
        command.env("SEQCST_CC", compiler).env("SEQCST_CXX", cxx(compiler));
        Run::of(command.args(args))
    }

    /// Runs a program that was made here.
    fn run(&self, program: &str, args: &[&str]) -> Run {
        Run::of(self.command(self.path(program)).args(args))
    }

    /// Runs a program until something is found; checks that it is store buffering in `dekker.c`.
    #[track_caller]
    fn finds_dekker(&self, program: &str, args: &[&str]) {
        let run = eventually(|| self.run(program, args)).ends(66);
        let said = run.stderr();
        let pairs = [("dekker.c:11", "dekker.c:15"), ("dekker.c:19", "dekker.c:7")];
        let found = pairs.iter().any(|(load, store)| said.contains(load) && said.contains(store));
        assert!(found && said.contains("stale"), "{}\n{said}", run.shown);
    }

    /// Runs any program, with ours in `PATH`.
    fn tool(&self, program: &str, args: &[&str]) -> Run {
        let own = Path::new(env!("CARGO_BIN_EXE_seqcst")).parent().expect("a directory").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path)));
        Run::of(self.command(program).env("PATH", path.expect("directories")).args(args))
    }
}

/// Runs something until it does not end well. Not every run of a program shows what is wrong with it: if both threads
/// store before either loads, there is nothing to see.
fn eventually(run: impl Fn() -> Run) -> Run {
    let failed = (1..30).map(|_| run()).find(|run| run.code() != Some(0));
    failed.unwrap_or_else(run)
}

/// What came of a command.
struct Run {
    shown: String,
    output: Output,
}

impl Run {
    fn of(command: &mut Command) -> Run {
        let shown = format!("{command:?}");
        let output = command.output().unwrap_or_else(|error| panic!("{shown}: {error}"));
        Run { shown, output }
    }

    fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Checks the exit code; shows everything if it is another one.
    #[track_caller]
    fn ends(self, code: i32) -> Run {
        let told = || format!("{}\n{}{}", self.shown, self.stdout(), self.stderr());
        assert_eq!(self.code(), Some(code), "{}", told());
        self
    }

    /// Checks that standard error has this text.
    #[track_caller]
    fn says(self, text: &str) -> Run {
        assert!(self.stderr().contains(text), "{}\nshould say: {text}\n{}", self.shown, self.stderr());
        self
    }

    /// Checks that there is no report.
    #[track_caller]
    fn finds_nothing(self) -> Run {
        assert!(!self.stderr().contains("WARNING: seqcst"), "{}\n{}", self.shown, self.stderr());
        self.ends(0)
    }
}

//! `seqcst library` from the outside: answers, exit codes, drawings, clients of several libraries, solvers that fail.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../schema/mod.rs"]
mod schema;

mod bad_input;
mod clients;
mod composition;
mod constraints;
mod objects;
mod solvers;
mod verdicts;

use harness::{scratch, text, write};
use serde_json::Value;
use std::process::{Command, Output};

/// Calls `seqcst library` in the folder with the corpus.
fn library(args: &[&str]) -> Output {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/library");
    let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
    command.arg("library").args(args).current_dir(corpus).output().expect("seqcst runs")
}

/// The exit code, and what it printed as JSON.
fn answers(args: &[&str]) -> (Option<i32>, Vec<Value>) {
    let out = library(&[&["--format", "json"], args].concat());
    (out.status.code(), text(&out.stdout).lines().map(schema::answer).collect())
}

/// A register with one relaxed location.
const REGISTER: &str = "\
#include <stdatomic.h>
static atomic_int value;
void set(int x) { atomic_store_explicit(&value, x, memory_order_relaxed); }
int get(void) { return atomic_load_explicit(&value, memory_order_relaxed); }
";

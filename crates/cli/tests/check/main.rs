//! `seqcst check`, run as users run it.

#[path = "../schema/mod.rs"]
mod schema;

mod bad_input;
mod limits;
mod pictures;
mod verdicts;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Store buffering: not robust.
const SB: &str = "\
global x, y;

fn left {
    local a;
    x.store(1);
    a = y.load();
}

fn right {
    local b;
    y.store(1);
    b = x.load();
}
";

/// Message passing: robust.
const MP: &str = "\
global x, y;

fn sender {
    x.store(1, rel);
    y.store(1, rel);
}

fn receiver {
    local a, b;
    a = y.load(acq);
    b = x.load(acq);
}
";

/// A program with many states: six counters that count on their own.
const MANY: &str = "\
max_value 15;
global a, b, c, d;
fn ta { local r; while (r < 14) { r = FADD(a, 1); } }
fn tb { local r; while (r < 14) { r = FADD(b, 1); } }
fn tc { local r; while (r < 14) { r = FADD(c, 1); } }
fn td { local r; while (r < 14) { r = FADD(d, 1); } }
fn te { local r; while (r < 14) { r = FADD(a, 1); r = FADD(b, 1); r = FADD(c, 1); r = FADD(d, 1); } }
";

/// A directory of its own for each test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("seqcst-check-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Folder(path)
    }

    fn with(self, name: &str, text: impl AsRef<[u8]>) -> Folder {
        std::fs::write(self.0.join(name), text).expect("a temporary file");
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("a temporary directory");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs `seqcst` in this directory.
    fn seqcst(&self, args: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
        command.args(args).current_dir(&self.0).env_remove("NO_COLOR");
        Run(command.output().expect("the binary runs"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What came of a run.
struct Run(Output);

impl Run {
    fn code(&self) -> i32 {
        self.0.status.code().expect("it ended by itself")
    }

    fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).expect("UTF-8")
    }

    fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).expect("UTF-8")
    }

    /// One JSON object per line.
    fn json(&self) -> Vec<serde_json::Value> {
        self.stdout().lines().map(schema::answer).collect()
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

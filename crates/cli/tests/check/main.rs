//! `seqcst check`, run as users run it.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../schema/mod.rs"]
mod schema;

mod bad_input;
mod limits;
mod pictures;
mod verdicts;

use harness::{Folder, Run};
use std::path::Path;

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

impl Folder {
    /// Runs `seqcst` in this directory.
    fn seqcst(&self, args: &[&str]) -> Run {
        Run(self.seqcst_command().args(args).output().expect("the binary runs"))
    }
}

impl Run {
    /// One JSON object per line.
    fn json(&self) -> Vec<serde_json::Value> {
        self.stdout().lines().map(schema::answer).collect()
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

//! The fuzz targets.

use super::parts::{Part, Slice};
use crate::Outcome;
use crate::cargo::{cargo, root, run as must};
use std::fs;
use std::process::Command;

/// Builds the targets, and lays programs of the corpus before them.
pub fn prepare() -> Outcome {
    must(&mut cargo_fuzz(&["build"]))?;
    ["tpl", "litmus"].into_iter().try_for_each(sow)
}

/// libFuzzer needs flags of the compiler that only nightly toolchains have, unless one insists.
fn cargo_fuzz(args: &[&str]) -> Command {
    let mut command = cargo(&["fuzz"]);
    command.args(args).env("RUSTC_BOOTSTRAP", "1");
    command
}

/// Programs that fuzzing begins with; what it learns is kept beside them.
fn sow(target: &str) -> Outcome {
    let seeds = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&seeds).map_err(|error| format!("{}: {error}", seeds.display()))?;
    for folder in ["corpus/litmus", "corpus/algorithms", "crates/program/tests/programs"] {
        for entry in fs::read_dir(root().join(folder)).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == target) {
                let seed = seeds.join(entry.file_name());
                fs::copy(&path, &seed).map_err(|error| format!("{}: {error}", seed.display()))?;
            }
        }
    }
    Ok(())
}

/// Fuzzes a target with so many inputs.
pub fn command(part: &Part, slice: Slice) -> Command {
    let target = part.target;
    let mut command = cargo_fuzz(&["run", target, "--"]);
    command.arg(format!("-dict=fuzz/{target}.dict")).arg(format!("-runs={}", slice.cases));
    // A seed of 0 is none.
    command.arg(format!("-seed={}", slice.seed + 1));
    command
}

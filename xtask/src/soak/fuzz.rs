//! The fuzz targets.

use crate::Outcome;
use crate::cargo::{cargo, root, run as must};
use std::fs;
use std::process::{Command, Stdio};

/// Runs every target for so many seconds.
pub fn run(seconds: u64) -> Outcome {
    if !is_there() {
        println!("cargo-fuzz is missing: cargo install --locked cargo-fuzz");
        must(&mut cargo(&["install", "--locked", "cargo-fuzz"]))?;
    }
    for target in ["tpl", "litmus"] {
        println!("fuzzing the {target} parser for {seconds} s");
        fuzz(target, seconds)?;
    }
    Ok(())
}

fn is_there() -> bool {
    let mut command = cargo_fuzz(&["--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// libFuzzer needs flags of the compiler that only nightly toolchains have, unless one insists.
fn cargo_fuzz(args: &[&str]) -> Command {
    let mut command = cargo(&["fuzz"]);
    command.args(args).env("RUSTC_BOOTSTRAP", "1");
    command
}

fn fuzz(target: &str, seconds: u64) -> Outcome {
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
    let mut command = cargo_fuzz(&["run", target, "--"]);
    command.arg(format!("-dict=fuzz/{target}.dict")).arg(format!("-max_total_time={seconds}"));
    must(&mut command)
}

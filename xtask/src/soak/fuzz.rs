//! The fuzz targets, where there is a nightly toolchain for them.

use crate::Outcome;
use crate::cargo::{root, run as must};
use std::fs;
use std::process::{Command, Stdio};

/// Runs every target for so many seconds.
pub fn run(seconds: u64) -> Outcome {
    if !fuzzer() {
        println!("no nightly toolchain with cargo-fuzz: mutated programs on stable were all");
        return Ok(());
    }
    for target in ["tpl", "litmus"] {
        println!("fuzzing the {target} parser for {seconds} s");
        fuzz(target, seconds)?;
    }
    Ok(())
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Whether there is a nightly toolchain with cargo-fuzz, which is installed if it can be.
fn fuzzer() -> bool {
    let nightly = |args: &[&str]| {
        let mut command = outside();
        command.arg("+nightly").args(args);
        command
    };
    succeeds(&mut nightly(&["--version"]))
        && (succeeds(&mut nightly(&["fuzz", "--version"]))
            || must(&mut nightly(&["install", "--locked", "cargo-fuzz"])).is_ok())
}

/// Rustup's cargo: the one that runs this chore is bound to its toolchain.
fn outside() -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root()).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
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
    let mut command = outside();
    command.args(["+nightly", "fuzz", "run", target, "--"]);
    command.arg(format!("-dict=fuzz/{target}.dict")).arg(format!("-max_total_time={seconds}"));
    must(&mut command)
}

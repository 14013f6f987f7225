//! `cargo xtask soak`: the same properties as the tests, on many more inputs.

use crate::Outcome;
use crate::cargo::{cargo, root, run as must};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

/// How long.
#[derive(clap::Args)]
pub struct Options {
    /// Random programs, or traces of programs, for each comparison with a definition
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    cases: u64,
    /// For each fuzz target
    #[arg(long, value_name = "N", default_value_t = 120)]
    fuzz_seconds: u64,
}

/// Runs the long versions of everything.
pub fn run(options: &Options) -> Outcome {
    let Options { cases, fuzz_seconds } = *options;
    let start = Instant::now();
    let step = |what: &str| println!("\n[{:>5.0} s] {what}", start.elapsed().as_secs_f64());

    step(&format!(
        "explorer and monitors against the definitions, {cases} random programs each; the whole corpus"
    ));
    let mut tests = cargo(&["test", "--release", "--locked", "--package", "seqcst-check", "--tests"]);
    tests.args(["--", "--nocapture"]);
    must(tests.env("SEQCST_CASES", cases.to_string()).env("SEQCST_SLOW", "1"))?;

    step(&format!("dynamic monitor against its definition, {cases} random traces each"));
    let mut traces =
        cargo(&["test", "--release", "--locked", "--package", "seqcst-monitor", "--test", "dynamic"]);
    traces.args(["--", "--nocapture"]);
    must(traces.env("SEQCST_CASES", cases.to_string()))?;

    let scripts = (cases / 10).max(1000);
    step(&format!("strategies against all schedules, {scripts} random scripts"));
    let mut strategies = cargo(&["test", "--release", "--locked", "--package", "seqcst-explore", "--tests"]);
    must(strategies.args(["--", "--nocapture"]).env("SEQCST_CASES", scripts.to_string()))?;

    step(&format!("tests in process against the definitions, {cases} random programs"));
    let mut models = cargo(&["test", "--release", "--locked", "--package", "seqcst", "--test", "agreement"]);
    must(models.args(["--", "--nocapture"]).env("SEQCST_CASES", cases.to_string()))?;

    let ported = (cases / 10).max(1000);
    step(&format!("porting against the definition, {ported} random programs of each sort"));
    let mut port = cargo(&["test", "--release", "--locked", "--package", "seqcst-port", "--test", "all"]);
    must(port.args(["--", "validate", "--nocapture"]).env("SEQCST_CASES", ported.to_string()))?;

    let programs = (cases / 40).max(200);
    step(&format!("the sanitizer: robust programs 1,000 times, {programs} random C programs of each kind"));
    let mut sanitizer = cargo(&["test", "--release", "--locked", "--package", "seqcst-cli"]);
    sanitizer.args(["--test", "corpus_c", "--test", "random_c", "--", "--nocapture"]);
    sanitizer.env("SEQCST_RUNS", "1000").env("SEQCST_CASES", programs.to_string());
    must(sanitizer.env("SEQCST_SLOW", "1"))?;

    let explored = (cases / 200).max(100);
    step(&format!("schedules: {explored} random C programs of each kind beside `seqcst check`"));
    let mut schedules =
        cargo(&["test", "--release", "--locked", "--package", "seqcst-cli", "--test", "explore"]);
    schedules.args(["--", "--nocapture"]).env("SEQCST_EXPLORE_CASES", explored.to_string());
    must(&mut schedules)?;

    if fuzzer() {
        for target in ["tpl", "litmus"] {
            step(&format!("fuzzing the {target} parser for {fuzz_seconds} s"));
            fuzz(target, fuzz_seconds)?;
        }
    } else {
        step(&format!("no nightly toolchain with cargo-fuzz: {cases} mutated programs on stable instead"));
        let mut smoke = cargo(&["test", "--release", "--package", "seqcst-program", "--test", "all"]);
        must(smoke.args(["--", "smoke_fuzz"]).env("SEQCST_CASES", cases.to_string()))?;
    }
    step("nothing found");
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

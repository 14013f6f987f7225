//! `cargo xtask test`: all tests, doc tests and the corpus, one line for each crate.
//!
//! What takes minutes is left to `cargo xtask soak`. Test binaries are built together and run here, as many at a time as
//! there are cores: many of them end with one long test, and many tests wait for processes that they started.

use crate::Outcome;
use crate::cargo::{self, Executable, build, cargo};
use crate::table::Table;
use std::collections::BTreeMap;
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Tally {
    passed: u64,
    ignored: u64,
    time: Duration,
    failures: Vec<String>,
}

/// Which tests.
#[derive(clap::Args)]
pub struct Options {
    /// Only tests whose name contains this
    filter: Option<String>,
}

/// Runs everything, or only the tests whose name contains a text.
pub fn run(options: &Options) -> Outcome {
    let filter = options.filter.as_deref();
    let start = Instant::now();
    let binaries = build(&["test", "--workspace", "--no-run", "--locked"])?;
    let built = start.elapsed();
    let mut tallies = run_all(&binaries, filter)?;
    tallies.insert("examples in documentation".to_owned(), doc_tests(filter)?);
    let mut table = Table::new(&["crate", "passed", "failed", "ignored", "seconds"], &["crate"]);
    for (name, tally) in &tallies {
        table.row(vec![
            name.clone(),
            tally.passed.to_string(),
            tally.failures.len().to_string(),
            tally.ignored.to_string(),
            format!("{:.1}", tally.time.as_secs_f64()),
        ]);
    }
    let total = start.elapsed().as_secs_f64();
    println!("\n{}\nbuilt in {:.1} s, {total:.1} s in all", table.text(), built.as_secs_f64());
    let passed: u64 = tallies.values().map(|tally| tally.passed).sum();
    let failed: usize = tallies.values().map(|tally| tally.failures.len()).sum();
    println!("{passed} passed, {failed} failed");
    let failures: Vec<String> = tallies.into_values().flat_map(|tally| tally.failures).collect();
    if failures.is_empty() { Ok(()) } else { Err(format!("failed:\n  {}", failures.join("\n  "))) }
}

/// Runs all test binaries, as many at a time as there are cores.
fn run_all(binaries: &[Executable], filter: Option<&str>) -> Outcome<BTreeMap<String, Tally>> {
    let left = Mutex::new(binaries.iter().filter(|binary| binary.is_test));
    let next = || left.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
    let lane = || {
        let mut done = Vec::new();
        while let Some(binary) = next() {
            done.push((binary, run_tests(binary, filter)?));
        }
        Ok(done)
    };
    let lanes = thread::available_parallelism().map_or(1, usize::from);
    let done: Vec<Outcome<Vec<_>>> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        lanes
            .into_iter()
            .map(|lane| lane.join().unwrap_or_else(|_| Err("a test lane panicked".to_owned())))
            .collect()
    });
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for lane in done {
        for (binary, tally) in lane? {
            // The corpus has a line of its own.
            let name = if binary.target == "corpus" { "corpus/" } else { &binary.package };
            tallies.entry(name.to_owned()).or_default().join(tally);
        }
    }
    Ok(tallies)
}

fn run_tests(binary: &Executable, filter: Option<&str>) -> Outcome<Tally> {
    let mut command = Command::new(&binary.path);
    command.current_dir(&binary.folder).env("CARGO_MANIFEST_DIR", &binary.folder).args(filter);
    let mut tally = Tally::default();
    tally.add(&format!("{} {}", binary.package, binary.target), &mut command)?;
    Ok(tally)
}

fn doc_tests(filter: Option<&str>) -> Outcome<Tally> {
    let mut tally = Tally::default();
    let mut command = cargo(&["test", "--workspace", "--doc", "--quiet", "--locked"]);
    command.arg("--").args(filter);
    tally.add("examples in documentation", &mut command)?;
    Ok(tally)
}

impl Tally {
    fn join(&mut self, other: Tally) {
        self.passed += other.passed;
        self.ignored += other.ignored;
        self.time += other.time;
        self.failures.extend(other.failures);
    }

    /// Runs tests and counts them; what they print is shown only if something fails.
    fn add(&mut self, what: &str, command: &mut Command) -> Outcome {
        let start = Instant::now();
        let output = command.output().map_err(|error| format!("{}: {error}", cargo::show(command)))?;
        self.time += start.elapsed();
        eprintln!("tested {what}: {:.1} s", start.elapsed().as_secs_f64());
        let printed = String::from_utf8_lossy(&output.stdout);
        for line in printed.lines().filter(|line| line.starts_with("test result:")) {
            self.passed += number_before(line, " passed");
            self.ignored += number_before(line, " ignored");
        }
        if !output.status.success() {
            println!("{printed}{}", String::from_utf8_lossy(&output.stderr));
            self.failures.extend(failures(what, &printed, output.status));
        }
        Ok(())
    }
}

/// The names of the tests that failed, or what else went wrong.
fn failures(what: &str, printed: &str, status: ExitStatus) -> Vec<String> {
    let failed = |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.to_owned());
    let names: Vec<String> =
        printed.lines().filter_map(failed).map(|name| format!("{what}: {name}")).collect();
    if names.is_empty() { vec![format!("{what}: {status}")] } else { names }
}

/// The number in `…; 12 passed; …`.
pub fn number_before(line: &str, word: &str) -> u64 {
    let before = line.split(word).next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let line =
            "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!((number_before(line, " passed"), number_before(line, " ignored")), (12, 3));
    }
}

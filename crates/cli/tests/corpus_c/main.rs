//! The programs of `corpus/c` and `corpus/rust`: verdicts in their headers, lines of reports in their comments.
//!
//! A program that is robust must be silent in every run. One that isn't must be found out within as many runs as the RSAN paper needed
//! at most, and every report must be about lines that are marked. `SEQCST_RUNS` says how often robust programs run.

#[path = "../compiled/mod.rs"]
mod compiled;
mod expected;

use compiled::{Folder, Report, compilers, line_in};
use expected::{Expected, Verdict, programs};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs in which a violation must show.
const MOST_RUNS: usize = 30;

/// Runs in which nothing must show.
fn silent_runs() -> usize {
    std::env::var("SEQCST_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

#[test]
fn in_c() {
    let folder = Folder::new("corpus-c");
    let mut wrong = Vec::new();
    for compiler in compilers() {
        for program in ["corpus/c", "corpus/c/small"].iter().flat_map(|folder| programs(folder, "c")) {
            let executable = folder.compile(compiler, &program.path);
            wrong.extend(judge(&folder, &executable, &program).err().map(|why| format!("{compiler}, {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn in_rust() {
    let folder = Folder::new("corpus-rust");
    let root = expected::root();
    let target = folder.file("target");
    let mut build = Command::new(env!("CARGO_BIN_EXE_cargo-seqcst"));
    build.args(["seqcst", "build", "--quiet", "--bins"]).current_dir(root.join("corpus/rust"));
    let built = build.env("CARGO_TARGET_DIR", &target).env_remove("RUSTFLAGS").output().expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut wrong = Vec::new();
    for program in programs("corpus/rust/src/bin", "rs") {
        let name = program.path.file_stem().expect("a name");
        let executable = executable(&target, &name.to_string_lossy()).expect("cargo built it");
        wrong.extend(judge(&folder, &executable, &program).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A binary somewhere below cargo's target directory.
fn executable(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("deps") && !path.ends_with("build") {
                folders.push(path);
            } else if path.is_file() && path.ends_with(name) {
                return Some(path);
            }
        }
    }
    None
}

/// Runs a program with all its arguments, and says what is wrong.
fn judge(folder: &Folder, executable: &Path, program: &Expected) -> Result<(), String> {
    let name = program.name();
    for args in &program.args {
        let words: Vec<&str> = args.split_whitespace().collect();
        let (mut found, mut runs) = (false, 0);
        let most = match program.verdict {
            Verdict::Robust | Verdict::BySchedule => silent_runs(),
            _ => MOST_RUNS,
        };
        while runs < most && !found {
            runs += 1;
            let options = if program.verdict == Verdict::BenignWait { "waits=report" } else { "" };
            let said = folder.run(executable, &words, options);
            let fits = |report: &Report| fits(program, &name, report);
            if let Some(odd) = said.reports.iter().find(|report| report.error && !fits(report)) {
                return Err(format!("{name} {args}: not expected: {odd:#?}"));
            }
            let mut errors = said.reports.iter().filter(|report| report.error).peekable();
            let code = if errors.peek().is_some() { 66 } else { 0 };
            found =
                errors.any(|report| program.verdict != Verdict::BenignWait || report.kind == "benign-wait");
            if said.code != Some(code) {
                return Err(format!("{name} {args}: exit code {:?}: {}", said.code, said.text));
            }
        }
        println!("{name} {args}: {:?}, {runs} runs", program.verdict);
        if program.verdict != Verdict::BySchedule && found != (program.verdict != Verdict::Robust) {
            return Err(format!(
                "{name} {args}: {:?} expected, nothing found in {runs} runs",
                program.verdict
            ));
        }
    }
    Ok(())
}

/// Whether a report is one that the program is marked for.
fn fits(program: &Expected, file: &str, report: &Report) -> bool {
    let (access, other) = (line_in(&report.access, file), line_in(&report.other, file));
    let marked = |line: Option<u64>, word: &str| line.is_some_and(|line| program.is_marked(line, word));
    match program.verdict {
        Verdict::Robust => false,
        Verdict::NotRobust | Verdict::BySchedule => {
            report.kind == "stale" && marked(access, "stale") && marked(other, "missed")
        }
        // Without evidence in this run it is taken for more than a wait.
        Verdict::BenignWait => report.kind != "race" && marked(access, "stale") && marked(other, "missed"),
        Verdict::Race => report.kind == "race" && marked(access, "race") && marked(other, "race"),
    }
}

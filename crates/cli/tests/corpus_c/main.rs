//! The programs of `corpus/c` and `corpus/rust`: verdicts in their headers, lines of reports in their comments.
//!
//! A program that is robust must be silent in every run. One that isn't must be found out within as many runs as the RSAN paper needed
//! at most, and every report must be about lines that are marked. `SEQCST_CASES` says how often robust programs run, `SEQCST_ONLY`
//! what paths must contain.

#[path = "../compiled/mod.rs"]
mod compiled;
#[path = "../harness/mod.rs"]
mod harness;

use compiled::{Report, compilers, line_in};
use harness::Folder;
use seqcst_testing::corpus::{self, Program, Verdict};
use seqcst_testing::drawn::cases;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs in which a violation must show.
const MOST_RUNS: usize = 30;

/// Runs in which nothing must show.
fn silent_runs() -> usize {
    cases(20) as usize
}

/// The programs of a folder.
fn programs(folder: &str, extension: &str) -> Vec<Program> {
    let mut programs = corpus::programs(folder, &[extension]).unwrap_or_else(|why| panic!("{why}"));
    let filter = std::env::var("SEQCST_ONLY").unwrap_or_default();
    programs.retain(|program| program.path.to_string_lossy().contains(&filter));
    programs
}

#[test]
fn in_c() {
    let folder = Folder::new("corpus-c");
    let mut wrong = Vec::new();
    for compiler in compilers() {
        for program in ["c", "c/small"].iter().flat_map(|folder| programs(folder, "c")) {
            let executable = folder.compile(compiler, &program.path);
            wrong.extend(judge(&folder, &executable, &program).err().map(|why| format!("{compiler}, {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn in_rust() {
    let folder = Folder::new("corpus-rust");
    let root = corpus::root();
    let target = folder.path("target");
    let mut build = Command::new(env!("CARGO_BIN_EXE_cargo-seqcst"));
    build.args(["seqcst", "build", "--quiet", "--bins"]).current_dir(root.join("corpus/rust"));
    let built = build.env("CARGO_TARGET_DIR", &target).env_remove("RUSTFLAGS").output().expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut wrong = Vec::new();
    for program in programs("rust/src/bin", "rs") {
        let executable = executable(&target, &program.name).expect("cargo built it");
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
fn judge(folder: &Folder, executable: &Path, program: &Program) -> Result<(), String> {
    let name = program.path.file_name().unwrap_or_default().to_string_lossy();
    let verdict = program.header.run.expect("what the sanitizer must find");
    for args in &program.header.args {
        let words: Vec<&str> = args.split_whitespace().collect();
        let (mut found, mut runs) = (false, 0);
        let most = match verdict {
            Verdict::Robust | Verdict::BySchedule => silent_runs(),
            _ => MOST_RUNS,
        };
        while runs < most && !found {
            runs += 1;
            let options = if verdict == Verdict::BenignWait { "waits=report" } else { "" };
            let said = folder.run(executable, &words, options);
            let fits = |report: &Report| fits(program, verdict, &name, report);
            if let Some(odd) = said.reports.iter().find(|report| report.error && !fits(report)) {
                return Err(format!("{name} {args}: not expected: {odd:#?}"));
            }
            let mut errors = said.reports.iter().filter(|report| report.error).peekable();
            let code = if errors.peek().is_some() { 66 } else { 0 };
            found = errors.any(|report| verdict != Verdict::BenignWait || report.kind == "benign-wait");
            if said.code != Some(code) {
                return Err(format!("{name} {args}: exit code {:?}: {}", said.code, said.text));
            }
        }
        println!("{name} {args}: {:?}, {runs} runs", verdict);
        if verdict != Verdict::BySchedule && found != (verdict != Verdict::Robust) {
            return Err(format!("{name} {args}: {:?} expected, nothing found in {runs} runs", verdict));
        }
    }
    Ok(())
}

/// Whether a report is one that the program is marked for.
fn fits(program: &Program, verdict: Verdict, file: &str, report: &Report) -> bool {
    let (access, other) = (line_in(&report.access, file), line_in(&report.other, file));
    let marked =
        |line: Option<u64>, word: &str| line.is_some_and(|line| program.header.is_marked(line, word));
    match verdict {
        Verdict::Robust => false,
        Verdict::NotRobust | Verdict::BySchedule => {
            report.kind == "stale" && marked(access, "stale") && marked(other, "missed")
        }
        // Without evidence in this run it is taken for more than a wait.
        Verdict::BenignWait => report.kind != "race" && marked(access, "stale") && marked(other, "missed"),
        // A race with a free is found by either of them.
        Verdict::Race if report.kind == "misuse" => marked(access, "misuse") && marked(other, "ended"),
        Verdict::Race => report.kind == "race" && marked(access, "race") && marked(other, "race"),
        // What ended its life is told if there is such a thing.
        Verdict::Misuse => {
            report.kind == "misuse"
                && marked(access, "misuse")
                && (report.other.is_empty() || marked(other, "ended"))
        }
        other => panic!("no verdict about runs: {other:?}"),
    }
}

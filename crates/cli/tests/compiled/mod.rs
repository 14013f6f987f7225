//! What tests of the sanitizer share: programs that are compiled by `seqcst cc`, run, and what was said about them.
//!
//! Reports are read from the JSON that a program writes at its end.

#![allow(dead_code)] // Each test file uses its own part.

use crate::harness::Folder;
use seqcst_testing::drawn::slow_too;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The compilers that are installed, of those that are supported: gcc and the newest clang, with `SEQCST_SLOW=1` all of them.
pub fn compilers() -> Vec<&'static str> {
    let there = |name: &&str| {
        let probe = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    };
    let found = ["gcc", "clang-19", "clang-14"].into_iter().filter(there);
    if slow_too() { found.collect() } else { found.take(2).collect() }
}

impl Folder {
    /// Compiles one C file with this compiler behind `seqcst cc`.
    #[track_caller]
    pub fn compile(&self, compiler: &str, source: &Path) -> PathBuf {
        let program = self.path(&format!("{}-{compiler}", source.file_stem().unwrap_or_default().display()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
        command.args(["cc", "-O1", "-g", "-std=gnu17"]).arg(source).arg("-o").arg(&program);
        let output = command.env("SEQCST_CC", compiler).output().expect("seqcst runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler} {}: {said}", source.display());
        program
    }

    /// Runs a program that was compiled so.
    pub fn run(&self, program: &Path, args: &[&str], options: &str) -> Said {
        let json = self.path("report.json");
        let _ = fs::remove_file(&json);
        let mut command = Command::new(program);
        command.args(args).env("SEQCST_OPTIONS", format!("json={}:{options}", json.display()));
        let output = command.output().expect("the program runs");
        Said {
            code: output.status.code(),
            text: String::from_utf8_lossy(&output.stderr).into_owned(),
            reports: read(&json),
        }
    }
}

/// What a run said.
pub struct Said {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// Standard error.
    pub text: String,
    /// The reports, errors or not.
    pub reports: Vec<Report>,
}

/// A report.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Report {
    /// `stale`, `race` or `benign-wait`.
    pub kind: String,
    /// Counts as an error.
    pub error: bool,
    /// The stale access, or the later one of a race.
    pub access: Place,
    /// The missed write, or the earlier access of a race; empty if it is not known.
    pub other: Place,
}

/// Where an access stands: its frames with file and line, innermost first. The line is 0 if it isn't known for certain.
pub type Place = Vec<(String, u64)>;

/// The line of the innermost frame in a file of this name.
pub fn line_in(place: &Place, file: &str) -> Option<u64> {
    let of_file = |path: &str| Path::new(path).file_name().is_some_and(|name| name == file);
    place.iter().find(|(path, _)| of_file(path)).map(|(_, line)| *line)
}

/// The reports in a file, none if there is no such file.
pub fn read(json: &Path) -> Vec<Report> {
    let Ok(text) = fs::read_to_string(json) else { return Vec::new() };
    let process: Value = serde_json::from_str(&text).expect("reports are JSON");
    let reports = process["reports"].as_array().expect("a list of reports");
    reports.iter().map(report).collect()
}

fn report(report: &Value) -> Report {
    let other = if report["missed"].is_null() { "earlier" } else { "missed" };
    Report {
        kind: report["kind"].as_str().unwrap_or_default().to_owned(),
        error: report["error"] == true,
        access: place(&report["access"]),
        other: place(&report[other]),
    }
}

fn place(access: &Value) -> Place {
    let frames = access["stack"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |frame: &Value| frame["file"].as_str().unwrap_or_default().to_owned();
    let line = |frame: &Value| frame["line"].as_u64().filter(|_| frame["near"] != true).unwrap_or(0);
    frames.iter().map(|frame| (text(frame), line(frame))).collect()
}

//! Known bugs: each must be pointed at, at the access that its fix changed, within a few runs. The header of a driver says which access that is.

use super::fetch::Source;
use super::record::BugFound;
use super::reports::{Access, Report, reports};
use crate::Outcome;
use crate::cargo::{root, run as must};
use crate::table::doing;
use seqcst_testing::corpus::{BugAt, Header, Program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs until a bug must have shown.
const MOST_RUNS: usize = 30;

/// A driver for a library with a bug.
pub struct Bug {
    /// The folder's name.
    pub name: String,
    folder: PathBuf,
    /// What the driver says about itself.
    header: Header,
}

/// All of `corpus/bugs`.
pub fn all() -> Outcome<Vec<Bug>> {
    let folder = root().join("corpus/bugs");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.into_iter().map(Bug::new).collect()
}

impl Bug {
    fn new(folder: PathBuf) -> Outcome<Bug> {
        let driver =
            [folder.join("src/main.rs"), folder.join("main.cpp")].into_iter().find(|path| path.is_file());
        let driver = driver.ok_or_else(|| format!("{}: no driver", folder.display()))?;
        let header = Program::read(&driver)?.header;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if header.buggy.is_some() {
            Ok(Bug { name, folder, header })
        } else {
            Err(format!("{}: no bug", driver.display()))
        }
    }

    /// The library and its version.
    fn library(&self) -> &str {
        self.header.buggy.as_deref().unwrap_or_default()
    }

    /// Puts the library's source beside the driver, if it needs a patch to be compiled.
    fn vendor(&self, folder: &Path, version: Option<&str>) -> Outcome {
        let (name, first) = self.library().split_once(' ').unwrap_or_default();
        let wanted = version.unwrap_or(first);
        let Some((_, sha256)) = self.header.vendored.iter().find(|(version, _)| version == wanted) else {
            return Ok(());
        };
        let vendor = folder.join("vendor");
        if vendor.is_dir() {
            return Ok(());
        }
        let source = Source::crates_io(name, wanted, sha256).root()?;
        must(Command::new("cp").arg("--recursive").arg(source).arg(&vendor))?;
        let patch = self.folder.join("compile.patch");
        if version.is_some() || !patch.is_file() {
            return Ok(());
        }
        must(
            Command::new("patch")
                .args(["--strip=1", "--quiet", "--directory"])
                .arg(&vendor)
                .arg("--input")
                .arg(patch),
        )
    }

    /// The expectation that a report meets.
    fn met(&self, report: &Report) -> Option<String> {
        let stands = |access: &Access, at: &BugAt| access.stands_in(&at.file, at.lines.clone());
        // Of a race, the two sides are equal.
        let race = report.kind == "race" || self.folder.join("main.cpp").is_file();
        let met = |at: &&BugAt| stands(&report.access, at) || (race && stands(&report.other, at));
        let met = self.header.bug_at.iter().find(met);
        met.map(|BugAt { file, lines, what }| format!("{file}:{} {what}", lines.start()))
    }
}

/// Runs a driver until its bug is pointed at; then the version without it, which must not be pointed at there.
pub fn find(tools: &Path, bug: &Bug) -> Outcome<BugFound> {
    doing(&format!("{} …", bug.name));
    let program = Driver::build(tools, bug, None)?;
    let mut met = None;
    let mut runs = 0;
    while met.is_none() && runs < MOST_RUNS {
        runs += 1;
        met = program
            .run()?
            .iter()
            .filter(|report| report.kind != "benign-wait")
            .find_map(|report| bug.met(report));
    }
    let still = match &bug.header.fixed {
        Some(version) => {
            let program = Driver::build(tools, bug, Some(version))?;
            let mut still = false;
            for _ in 0..runs.max(3) {
                // Lines have moved: only whether there is less to say can be told.
                still |= program.run()?.iter().any(|report| report.kind != "benign-wait");
            }
            Some(still)
        }
        None => None,
    };
    Ok(BugFound { library: bug.library().to_owned(), fixed: bug.header.fixed.clone(), met, runs, still })
}

/// A compiled driver.
struct Driver {
    program: PathBuf,
    json: PathBuf,
}

impl Driver {
    /// Compiles a driver with the version that it names, or with another one.
    fn build(tools: &Path, bug: &Bug, version: Option<&str>) -> Outcome<Driver> {
        let name = format!("{}{}", bug.name, version.map_or(String::new(), |version| format!("-{version}")));
        let folder = super::folder(&format!("bugs/{name}"))?;
        let json = folder.join("report.json");
        if bug.folder.join("main.cpp").is_file() {
            let program = folder.join("driver");
            let headers = readerwriterqueue().unpacked()?.join("usr/include");
            let mut compile = Command::new(tools.join("seqcst"));
            // With clang the library switches off the instrumentation of its plain accesses.
            compile.env("SEQCST_CXX", "g++").args(["c++", "-O1", "-g", "-w", "-pthread"]);
            compile.arg(format!("-I{}", headers.display())).arg(bug.folder.join("main.cpp"));
            must(compile.arg("-o").arg(&program))?;
            return Ok(Driver { program, json });
        }
        copy(&bug.folder, &folder, version)?;
        bug.vendor(&folder, version)?;
        let mut cargo = Command::new(tools.join("cargo-seqcst"));
        cargo.args(["seqcst", "build", "--quiet"]).current_dir(&folder).env_remove("CARGO");
        must(cargo.env("CARGO_TARGET_DIR", folder.join("target")))?;
        let program = executable(&folder.join("target"), &format!("bug-{}", bug.name));
        Ok(Driver { program: program.ok_or_else(|| format!("{name}: cargo built nothing"))?, json })
    }

    fn run(&self) -> Outcome<Vec<Report>> {
        let _ = fs::remove_file(&self.json);
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "120"]).arg(&self.program);
        command.env("SEQCST_OPTIONS", format!("json={}", self.json.display()));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        match status.map_err(|error| format!("timeout: {error}"))?.code() {
            Some(0 | 66) => reports(&self.json),
            code => Err(format!("{}: exit code {code:?}", self.program.display())),
        }
    }
}

/// The package of Debian with the C++ library.
fn readerwriterqueue() -> Source {
    Source::debian(
        "r/readerwriterqueue/libreaderwriterqueue-dev_1.0.6-1_all.deb",
        "f219a074fc06382e41414ad261dc3fba7a3667b0c7a1c7709490b8ea3fbf55a8",
    )
}

/// Copies a package, perhaps with another version of the library.
fn copy(from: &Path, to: &Path, version: Option<&str>) -> Outcome {
    let failed = |error: std::io::Error| format!("{}: {error}", to.display());
    fs::create_dir_all(to.join("src")).map_err(failed)?;
    fs::copy(from.join("src/main.rs"), to.join("src/main.rs")).map_err(failed)?;
    let mut manifest = fs::read_to_string(from.join("Cargo.toml")).map_err(failed)?;
    if let (Some(version), Some((before, after))) = (version, manifest.split_once("\"=")) {
        let rest = after.split_once('"').map_or("", |(_, rest)| rest);
        manifest = format!("{before}\"={version}\"{rest}");
    }
    fs::write(to.join("Cargo.toml"), manifest).map_err(failed)
}

/// A binary somewhere below cargo's target directory.
fn executable(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).ok()?.flatten() {
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

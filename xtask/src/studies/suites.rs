//! Crates with tests of their own, which run as they are.

use super::fetch::Source;
use super::record::Study;
use super::reports::{Found, all_reports};
use crate::Outcome;
use crate::table::doing;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A crate.
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    version: &'static str,
    sha256: &'static str,
}

/// All of them.
pub const SUITES: [Suite; 7] = [
    Suite {
        name: "crossbeam-deque",
        version: "0.8.8",
        sha256: "622f3fc73690be383c7214310406f28a90e6edeadc3cea882f9d71e495b9711a",
    },
    Suite {
        name: "crossbeam-epoch",
        version: "0.9.21",
        sha256: "dc74980687109a3b14c72fd458107bf0baa1da1a1a805e178d15501ba9b86d9d",
    },
    Suite {
        name: "arc-swap",
        version: "1.9.3",
        sha256: "380962b3d93b99642e50b9febf72c071e97e8b32d86eae9cf4ef582bb960ae6e",
    },
    Suite {
        name: "seqlock",
        version: "0.2.0",
        sha256: "b5c67b6f14ecc5b86c66fa63d76b5092352678545a8a3cdae80aef5128371910",
    },
    Suite {
        name: "rtrb",
        version: "0.4.1",
        sha256: "5974e397833d890f2f74963408e0d4a6cd8eda2f6a445ae06750291b5d7a997e",
    },
    Suite {
        name: "concurrent-queue",
        version: "2.5.0",
        sha256: "4ca0197aee26d1ae37445ee532fefce43251d24cc7c166799f4d46817f1d3973",
    },
    Suite {
        name: "parking_lot",
        version: "0.13.0",
        sha256: "a9cf937ca4e1d0b7578784559063422fc39ae7c5a00f02471f2614d5486fd226",
    },
];

/// Runs a crate's tests: without the sanitizer to see that they pass, then with it.
pub fn study(tools: &Path, suite: &Suite) -> Outcome<Study> {
    let source = Source::crates_io(suite.name, suite.version, suite.sha256).root()?;
    stand_alone(&source)?;
    let target = super::folder(&format!("targets/{}", suite.name))?;
    let tests = |command: &mut Command| {
        command.current_dir(&source).args(["test", "--quiet", "--lib", "--tests"]);
        command.env("CARGO_TARGET_DIR", &target).env_remove("CARGO");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // What is compiled does not count.
        let built = command.arg("--no-run").status();
        built.is_ok_and(|status| status.success())
    };
    doing(&format!("{}: building …", suite.name));
    let mut cargo = Command::new(tools.join("cargo-seqcst"));
    if !tests(cargo.arg("seqcst")) {
        return Err(format!("{}: its tests can't be built, see {}", suite.name, source.display()));
    }
    doing(&format!("{}: running …", suite.name));
    let json = super::folder(&format!("json/{}", suite.name))?;
    let _ = fs::remove_dir_all(&json);
    fs::create_dir_all(&json).map_err(|error| format!("{}: {error}", json.display()))?;
    let mut cargo = Command::new("timeout");
    cargo.args(["--signal=KILL", "1800"]).arg(tools.join("cargo-seqcst"));
    cargo.args(["seqcst", "test", "--quiet", "--lib", "--tests"]).current_dir(&source);
    cargo.env("CARGO_TARGET_DIR", &target).env_remove("CARGO");
    // Tests end with their own exit code, so that all of them run.
    cargo.env("SEQCST_OPTIONS", format!("exitcode=0:json={}/", json.display()));
    let start = Instant::now();
    let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let printed = String::from_utf8_lossy(&output.stdout);
    let results: Vec<&str> = printed.lines().filter(|line| line.starts_with("test result:")).collect();
    let passed: u64 = results.iter().map(|line| number_before(line, " passed")).sum();
    let failed: u64 = results.iter().map(|line| number_before(line, " failed")).sum();
    if !output.status.success() && failed == 0 {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: its tests ended early: {}\n{said}", suite.name, output.status));
    }
    let mut found = Found::default();
    found.add(&all_reports(&json)?);
    let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    Ok(Study {
        name: suite.name.to_owned(),
        library: format!("{} {} (crates.io)", suite.name, suite.version),
        what: format!("{passed} tests of its own{failures}"),
        seconds,
        found,
    })
}

/// Says in its manifest that it belongs to no workspace: it lies below ours.
fn stand_alone(source: &Path) -> Outcome {
    let manifest = source.join("Cargo.toml");
    let failed = |error: std::io::Error| format!("{}: {error}", manifest.display());
    let text = fs::read_to_string(&manifest).map_err(failed)?;
    if text.contains("\n[workspace]") {
        return Ok(());
    }
    fs::write(&manifest, text + "\n[workspace]\n").map_err(failed)
}

/// The number in `…; 12 passed; …`.
fn number_before(line: &str, word: &str) -> u64 {
    let before = line.split(word).next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

//! Crates with tests of their own, which run as they are.

use super::fetch::Source;
use super::record::Study;
use super::reports::{Found, all_reports};
use crate::Outcome;
use crate::cargo::{root, run as must};
use crate::table::doing;
use crate::test::number_before;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A crate.
pub struct Suite {
    /// What the study is called.
    pub name: &'static str,
    package: &'static str,
    version: &'static str,
    sha256: &'static str,
    /// A patch in `corpus/repairs`, after which nothing must be found.
    repair: Option<&'static str>,
    /// A client in `corpus/studies`, for a crate without tests.
    client: Option<&'static str>,
}

/// All of them.
pub const SUITES: [Suite; 8] = [
    Suite {
        name: "crossbeam-deque",
        package: "crossbeam-deque",
        version: "0.8.8",
        sha256: "622f3fc73690be383c7214310406f28a90e6edeadc3cea882f9d71e495b9711a",
        repair: None,
        client: None,
    },
    Suite {
        name: "crossbeam-epoch",
        package: "crossbeam-epoch",
        version: "0.9.21",
        sha256: "dc74980687109a3b14c72fd458107bf0baa1da1a1a805e178d15501ba9b86d9d",
        repair: None,
        client: None,
    },
    Suite {
        name: "arc-swap",
        package: "arc-swap",
        version: "1.9.3",
        sha256: "380962b3d93b99642e50b9febf72c071e97e8b32d86eae9cf4ef582bb960ae6e",
        repair: None,
        client: None,
    },
    Suite {
        name: "seqlock",
        package: "seqlock",
        version: "0.2.0",
        sha256: "b5c67b6f14ecc5b86c66fa63d76b5092352678545a8a3cdae80aef5128371910",
        repair: None,
        client: Some("seqlock"),
    },
    Suite {
        name: "rtrb",
        package: "rtrb",
        version: "0.4.1",
        sha256: "5974e397833d890f2f74963408e0d4a6cd8eda2f6a445ae06750291b5d7a997e",
        repair: None,
        client: None,
    },
    Suite {
        name: "concurrent-queue",
        package: "concurrent-queue",
        version: "2.5.0",
        sha256: "4ca0197aee26d1ae37445ee532fefce43251d24cc7c166799f4d46817f1d3973",
        repair: None,
        client: None,
    },
    Suite {
        name: "parking_lot",
        package: "parking_lot",
        version: "0.13.0",
        sha256: "a9cf937ca4e1d0b7578784559063422fc39ae7c5a00f02471f2614d5486fd226",
        repair: None,
        client: None,
    },
    Suite {
        name: "rtrb-repaired",
        package: "rtrb",
        version: "0.4.1",
        sha256: "5974e397833d890f2f74963408e0d4a6cd8eda2f6a445ae06750291b5d7a997e",
        repair: Some("rtrb-0.4.1.patch"),
        client: None,
    },
];

/// Runs a crate's tests, or a client of it.
pub fn study(tools: &Path, suite: &Suite) -> Outcome<Study> {
    let source = suite.source()?;
    let target = super::folder(&format!("targets/{}", suite.name))?;
    let json = super::folder(&format!("json/{}", suite.name))?;
    let _ = fs::remove_dir_all(&json);
    fs::create_dir_all(&json).map_err(|error| format!("{}: {error}", json.display()))?;
    let run = |more: &[&str]| {
        let mut cargo = Command::new("timeout");
        cargo.args(["--signal=KILL", "3600"]).arg(tools.join("cargo-seqcst"));
        cargo.arg("seqcst").args(more).current_dir(&source).env_remove("CARGO");
        // Tests end with their own exit code, so that all of them run.
        cargo.env("CARGO_TARGET_DIR", &target);
        cargo.env("SEQCST_OPTIONS", format!("exitcode=0:json={}/", json.display()));
        cargo.output().map_err(|error| format!("cargo: {error}"))
    };
    // What is compiled does not count.
    doing(&format!("{}: building …", suite.name));
    let (build, command): (&[&str], &[&str]) = match suite.client {
        Some(_) => (&["build", "--quiet"], &["run", "--quiet"]),
        None => (
            &["test", "--quiet", "--lib", "--tests", "--no-run"],
            &["test", "--quiet", "--lib", "--tests", "--no-fail-fast"],
        ),
    };
    let built = run(build)?;
    if !built.status.success() {
        return Err(format!("{}: {}", suite.name, String::from_utf8_lossy(&built.stderr)));
    }
    doing(&format!("{}: running …", suite.name));
    let start = Instant::now();
    let output = run(command)?;
    let seconds = start.elapsed().as_secs_f64();
    let printed = String::from_utf8_lossy(&output.stdout);
    let results: Vec<&str> = printed.lines().filter(|line| line.starts_with("test result:")).collect();
    let passed: u64 = results.iter().map(|line| number_before(line, " passed")).sum();
    let failed: u64 = results.iter().map(|line| number_before(line, " failed")).sum();
    if !output.status.success() && failed == 0 {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: ended early: {}\n{said}", suite.name, output.status));
    }
    let mut found = Found::default();
    found.add(&all_reports(&json)?);
    let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    let what = match suite.client {
        Some(_) => "client, 1 run".to_owned(),
        None => format!("{passed} tests of its own{failures}"),
    };
    let from = suite.repair.unwrap_or("crates.io");
    let library = format!("{} {} ({from})", suite.package, suite.version);
    Ok(Study { name: suite.name.to_owned(), library, what, seconds, found })
}

impl Suite {
    /// The package to run: the crate, a repaired copy of it, or a client.
    fn source(&self) -> Outcome<PathBuf> {
        if let Some(client) = self.client {
            return Ok(root().join("corpus/studies").join(client));
        }
        let source = Source::crates_io(self.package, self.version, self.sha256).root()?;
        stand_alone(&source)?;
        match self.repair {
            Some(patch) => repaired(&source, self.name, patch),
            None => Ok(source),
        }
    }
}

/// A copy of the source, with a patch.
fn repaired(source: &Path, name: &str, patch: &str) -> Outcome<PathBuf> {
    let copy = super::folder("repaired")?.join(name);
    let _ = fs::remove_dir_all(&copy);
    must(Command::new("cp").arg("--recursive").arg(source).arg(&copy))?;
    let mut command = Command::new("patch");
    command.args(["--strip=1", "--quiet", "--directory"]).arg(&copy);
    must(command.arg("--input").arg(root().join("corpus/repairs").join(patch)))?;
    Ok(copy)
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

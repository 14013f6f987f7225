//! What the outcome of a part depends on: the sources of its package, of all packages of the workspace that it is made of,
//! and the corpus. What was soaked counts as long as they are the same, whatever else changes.

use crate::Outcome;
use crate::cargo::{cargo, root, show};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Packages that become part of others by their build scripts.
const EMBEDDED: [(&str, &str); 1] = [("seqcst-cli", "seqcst-runtime")];
/// What concerns every part.
const COMMON: [&str; 3] = ["Cargo.toml", "Cargo.lock", "corpus"];

/// The packages of the workspace.
pub struct Sources {
    packages: BTreeMap<String, Package>,
}

struct Package {
    /// Its folder, seen from the workspace.
    folder: String,
    /// The packages of the workspace that it needs, for tests as well.
    needs: Vec<String>,
}

impl Sources {
    /// Asks cargo.
    pub fn of_workspace() -> Outcome<Sources> {
        let mut command = cargo(&["metadata", "--format-version=1", "--no-deps", "--locked"]);
        let output = command.output().map_err(|error| format!("{}: {error}", show(&command)))?;
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let packages = metadata["packages"].as_array().ok_or("cargo names no packages")?;
        Ok(Sources { packages: packages.iter().filter_map(package).collect() })
    }

    /// The folders that a package is made of, its own included.
    fn folders(&self, package: &str) -> Vec<&str> {
        let mut all = BTreeSet::new();
        let mut open = vec![package];
        while let Some(name) = open.pop() {
            let Some(package) = self.packages.get(name) else { continue };
            if all.insert(package.folder.as_str()) {
                let embedded = EMBEDDED.iter().filter(|(outer, _)| *outer == name).map(|&(_, inner)| inner);
                open.extend(package.needs.iter().map(String::as_str).chain(embedded));
            }
        }
        all.into_iter().collect()
    }

    /// Names the contents of all files that a package is made of; None if some of them are not committed.
    pub fn digest(&self, package: &str) -> Outcome<Option<String>> {
        let paths = [&self.folders(package)[..], &COMMON[..]].concat();
        let listed = |args: &[&str]| git(&[args, &["--"], &paths[..]].concat(), "");
        if !listed(&["status", "--porcelain"])?.is_empty() {
            return Ok(None);
        }
        let files = listed(&["ls-files", "--stage"])?;
        let digest = git(&["hash-object", "--stdin"], &files)?;
        Ok(Some(digest.chars().take(12).collect()))
    }
}

fn package(value: &Value) -> Option<(String, Package)> {
    let manifest = Path::new(value["manifest_path"].as_str()?);
    let folder = manifest.parent()?.strip_prefix(root()).ok()?.to_str()?.to_owned();
    let needs = value["dependencies"].as_array()?.iter().filter(|needed| needed["path"].is_string());
    let needs = needs.filter_map(|needed| Some(needed["name"].as_str()?.to_owned())).collect();
    Some((value["name"].as_str()?.to_owned(), Package { folder, needs }))
}

fn git(args: &[&str], input: &str) -> Outcome<String> {
    let mut command = Command::new("git");
    command.current_dir(root()).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let output = command.spawn().and_then(|mut git| {
        // It closes when it is dropped.
        git.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()))?;
        git.wait_with_output()
    });
    let output = output.map_err(|error| format!("{}: {error}", show(&command)))?;
    if !output.status.success() {
        return Err(format!("{}: {}", show(&command), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_made_of_what_it_needs() {
        let sources = Sources::of_workspace().expect("cargo knows the workspace");
        let folders = sources.folders("seqcst-cli");
        for part in ["crates/cli", "crates/check", "crates/model", "crates/runtime", "crates/testing"] {
            assert!(folders.contains(&part), "{part} is missing in {folders:?}");
        }
        let monitor = sources.folders("seqcst-monitor");
        assert!(!monitor.contains(&"crates/cli") && !monitor.contains(&"xtask"), "{monitor:?}");
    }
}

//! What the outcome of a part depends on. What was soaked counts as long as that is the same, whatever else changes:
//!
//! * the files that its test binary was compiled from, as rustc lists them;
//! * the packages of the workspace that it needs, without their tests;
//! * packages from elsewhere, by version and features;
//! * how all that is optimised;
//! * what its tests read when they run ([`Part::reads`]).

use super::parts::Part;
use crate::Outcome;
use crate::cargo::{Executable, cargo, root, show};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Packages that become part of others by their build scripts.
const EMBEDDED: [(&str, &str); 1] = [("seqcst-cli", "seqcst-runtime")];

/// The packages that a workspace is made of.
pub struct Sources {
    /// By what cargo calls them, which has version and origin in it.
    packages: BTreeMap<String, Package>,
}

struct Package {
    name: String,
    /// Its folder, seen from the repository; none if it is from elsewhere.
    folder: Option<String>,
    features: Vec<String>,
    /// The packages that it needs.
    needs: Vec<String>,
    /// Those that only its tests need.
    tests_need: Vec<String>,
}

impl Sources {
    /// Asks cargo about a workspace.
    pub fn of(manifest: &str) -> Outcome<Sources> {
        let mut command = cargo(&["metadata", "--format-version=1", "--locked", "--manifest-path", manifest]);
        let output = command.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("{}: {error}", show(&command)))?;
        if !output.status.success() {
            return Err(format!("{}: {}", show(&command), output.status));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let nodes = metadata["resolve"]["nodes"].as_array().ok_or("cargo says nothing of dependencies")?;
        let nodes = nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node)));
        let nodes: BTreeMap<&str, &Value> = nodes.collect();
        let packages = metadata["packages"].as_array().ok_or("cargo names no packages")?;
        let packages = packages.iter().filter_map(|value| {
            let id = value["id"].as_str()?;
            Some((id.to_owned(), package(value, nodes.get(id)?)?))
        });
        Ok(Sources { packages: packages.collect() })
    }

    fn named(&self, name: &str) -> Option<&str> {
        let ours = |package: &Package| package.name == name && package.folder.is_some();
        Some(self.packages.iter().find(|(_, package)| ours(package))?.0)
    }

    /// A package and all that its tests are made of.
    fn needed(&self, name: &str) -> BTreeMap<&str, &Package> {
        let mut all = BTreeMap::new();
        let mut open: Vec<&str> = self.named(name).into_iter().collect();
        while let Some(id) = open.pop() {
            let Some(package) = self.packages.get(id) else { continue };
            let of_tests: &[String] = if all.is_empty() { &package.tests_need } else { &[] };
            if all.insert(id, package).is_none() {
                open.extend(package.needs.iter().chain(of_tests).map(String::as_str));
                let embedded = EMBEDDED.iter().filter(|(outer, _)| *outer == package.name);
                open.extend(embedded.filter_map(|(_, inner)| self.named(inner)));
            }
        }
        all
    }

    /// The folders of a part's packages, and those in them that are not part of it: what git is asked about.
    fn folders(&self, part: &Part) -> Vec<String> {
        let needed = self.needed(part.package);
        let folders = needed.values().filter_map(|package| package.folder.as_deref());
        let apart = ["tests", "examples"].map(|apart| format!(":(exclude,glob)crates/*/{apart}/**"));
        folders.map(str::to_owned).chain(apart).collect()
    }

    /// Names everything that a part is made of; None if some of it is not committed.
    pub fn digest(&self, part: &Part, binary: Option<&Executable>) -> Outcome<Option<String>> {
        let mut files = binary.map_or(Ok(Vec::new()), |binary| compiled_from(&binary.path))?;
        files.extend(part.reads.iter().map(|path| (*path).to_owned()));
        let mut all = String::new();
        for paths in [self.folders(part), files] {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let listed = |args: &[&str]| git(&[args, &["--"], &paths[..]].concat(), "");
            // Without a path git would list everything.
            if paths.is_empty() {
                continue;
            }
            if !listed(&["status", "--porcelain"])?.is_empty() {
                return Ok(None);
            }
            all += &listed(&["ls-files", "--stage"])?;
            all.push('\n');
        }
        for (id, package) in self.needed(part.package) {
            if package.folder.is_none() {
                all += &format!("{id} {}\n", package.features.join(" "));
            }
        }
        all += &optimisation(&read(&root().join("Cargo.toml"))?);
        let digest = git(&["hash-object", "--stdin"], &all)?;
        Ok(Some(digest.chars().take(12).collect()))
    }
}

fn package(value: &Value, node: &Value) -> Option<Package> {
    let folder = Path::new(value["manifest_path"].as_str()?).parent()?;
    let ours = folder.strip_prefix(root()).ok().filter(|_| value["source"].is_null());
    let features = node["features"].as_array()?.iter().filter_map(Value::as_str).map(str::to_owned);
    let (mut needs, mut tests_need) = (Vec::new(), Vec::new());
    for needed in node["deps"].as_array()? {
        let only_tests = needed["dep_kinds"].as_array()?.iter().all(|kind| kind["kind"] == "dev");
        let list = if only_tests { &mut tests_need } else { &mut needs };
        list.push(needed["pkg"].as_str()?.to_owned());
    }
    Some(Package {
        name: value["name"].as_str()?.to_owned(),
        folder: ours.and_then(|folder| folder.to_str()).map(str::to_owned),
        features: features.collect(),
        needs,
        tests_need,
    })
}

/// The files of the repository that an executable was compiled from, without other packages: rustc lists them beside it, each
/// once with nothing behind the colon.
fn compiled_from(executable: &Path) -> Outcome<Vec<String>> {
    let text = read(&executable.with_extension("d"))?;
    let files = text.lines().filter_map(|line| line.strip_suffix(':'));
    let files = files.filter_map(|file| {
        let path = root().join(file).canonicalize().ok()?;
        Some(path.strip_prefix(root().canonicalize().ok()?).ok()?.to_str()?.to_owned())
    });
    Ok(files.collect())
}

/// The part of a manifest that says how tests with optimisations are compiled.
fn optimisation(manifest: &str) -> String {
    let mut is_it = false;
    let of_profile = |line: &&str| {
        is_it = if line.starts_with('[') { line.starts_with("[profile.release") } else { is_it };
        is_it && !line.trim().is_empty() && !line.starts_with('#')
    };
    manifest.lines().filter(of_profile).map(|line| format!("{line}\n")).collect()
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
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
    use super::super::parts::{Kind, PARTS};
    use super::*;
    use std::path::PathBuf;

    fn sources() -> Sources {
        Sources::of("Cargo.toml").expect("cargo knows the workspace")
    }

    #[test]
    fn a_part_is_made_of_what_it_needs() {
        let sources = sources();
        let cli = PARTS.iter().find(|part| part.package == "seqcst-cli").expect("a part");
        let folders = sources.folders(cli);
        for part in ["crates/cli", "crates/check", "crates/model", "crates/runtime", "crates/testing"] {
            assert!(folders.iter().any(|folder| folder == part), "{part} is missing in {folders:?}");
        }
        let monitor = sources.needed("seqcst-monitor");
        let names: Vec<&str> = monitor.values().map(|package| &*package.name).collect();
        assert!(names.contains(&"seqcst-testing") && !names.contains(&"seqcst-cli"), "{names:?}");
        // What only the tests of others need is not needed.
        assert!(!names.contains(&"expect-test"), "{names:?}");
    }

    /// What a test binary was compiled from is what this one was.
    #[test]
    fn rustc_lists_files() {
        let here = std::env::current_exe().expect("a file");
        let files = compiled_from(&here).expect("rustc lists what it reads");
        assert!(files.contains(&"xtask/src/soak/sources.rs".to_owned()), "{files:?}");
    }

    /// Whether a test has it that files of the corpus are read when it runs.
    fn reads_the_corpus(source: &Path) -> bool {
        let text = read(source).unwrap_or_default();
        let code =
            text.lines().filter(|line| !line.trim().starts_with("//") && !line.contains("include_str!"));
        code.into_iter()
            .any(|line| ["corpus::", "corpus/", "all_programs("].iter().any(|word| line.contains(word)))
    }

    /// The sources of a part's tests, modules that others have, too, left out.
    fn tests_of(part: &Part) -> Vec<PathBuf> {
        let package = root().join("crates").join(part.package.trim_start_matches("seqcst-"));
        let mut open =
            vec![package.join("tests").join(part.target), package.join(format!("tests/{}.rs", part.target))];
        let mut files = Vec::new();
        while let Some(path) = open.pop() {
            match fs::read_dir(&path) {
                Ok(entries) => open.extend(entries.flatten().map(|entry| entry.path())),
                Err(_) if path.is_file() => files.push(path),
                Err(_) => {}
            }
        }
        if let Kind::Tests(Some(filter)) = part.kind {
            files.retain(|file| file.to_string_lossy().contains(filter));
        }
        files
    }

    /// A new program in C must not make everything start anew; one that is read must.
    #[test]
    fn what_parts_read_is_said() {
        for part in PARTS.iter().filter(|part| part.kind != Kind::Fuzzing) {
            let tests = tests_of(part);
            assert!(!tests.is_empty(), "{}: no tests", part.what);
            let reads = tests.iter().any(|file| reads_the_corpus(file));
            let says = part.reads.iter().any(|path| path.contains("corpus/"));
            assert_eq!(reads, says, "{}", part.what);
        }
        for path in PARTS.iter().flat_map(|part| part.reads) {
            let files = git(&["ls-files", "--", path], "").expect("git lists files");
            assert!(!files.is_empty(), "there is no {path}");
        }
    }

    #[test]
    fn how_tests_are_optimised() {
        let manifest = "[a]\nb = 1\n\n[profile.release]\n# Why.\nstrip = true\n\n[profile.dev]\nx = 1\n";
        assert_eq!(optimisation(manifest), "[profile.release]\nstrip = true\n");
    }
}

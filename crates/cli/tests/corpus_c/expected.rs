//! What a program of the corpus says about itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What must be found in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Robust,
    NotRobust,
    BenignWait,
    /// Not robust, but only under few schedules: chance may find it or not.
    BySchedule,
    Race,
}

/// A program.
pub struct Expected {
    /// The file.
    pub path: PathBuf,
    /// What must be found.
    pub verdict: Verdict,
    /// The arguments that it is run with, one time after the other.
    pub args: Vec<String>,
    /// Lines, and what they may be in a report: `stale`, `missed`, `race`.
    marks: BTreeSet<(u64, String)>,
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// All programs of a folder.
pub fn programs(folder: &str, extension: &str) -> Vec<Expected> {
    let folder = root().join(folder);
    let entries = fs::read_dir(&folder).expect("the corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    let filter = std::env::var("SEQCST_ONLY").unwrap_or_default();
    paths.retain(|path| path.to_string_lossy().contains(&filter));
    paths.into_iter().map(Expected::new).collect()
}

impl Expected {
    fn new(path: PathBuf) -> Expected {
        let text = fs::read_to_string(&path).expect("a program");
        let header = |key: &str| text.lines().find_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key));
        let verdict = match header("run:").map(str::trim) {
            Some("robust") => Verdict::Robust,
            Some("not-robust") => Verdict::NotRobust,
            Some("benign-wait") => Verdict::BenignWait,
            Some("by-schedule") => Verdict::BySchedule,
            Some("race") => Verdict::Race,
            other => panic!("{}: no verdict, but {other:?}", path.display()),
        };
        let args =
            header("args:").map_or(vec![String::new()], |args| args.split('|').map(str::to_owned).collect());
        let marks = marks(&text);
        assert_eq!(verdict == Verdict::Robust, marks.is_empty(), "{}: marks", path.display());
        Expected { path, verdict, args, marks }
    }

    /// The file's name.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether a line may be this in a report. Line 0 is code that the compiler made out of several lines.
    pub fn is_marked(&self, line: u64, word: &str) -> bool {
        line == 0 || self.marks.contains(&(line, word.to_owned()))
    }
}

/// `//~ stale missed` at the end of a line is about that line, alone in a line about the one before.
fn marks(text: &str) -> BTreeSet<(u64, String)> {
    let mut marks = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((code, words)) = line.split_once("//~") else { continue };
        let line = if code.trim().is_empty() { number - 1 } else { number };
        marks.extend(words.split_whitespace().map(|word| (line, word.to_owned())));
    }
    marks
}

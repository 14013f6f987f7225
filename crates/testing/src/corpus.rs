//! The programs of `corpus/`, with what their headers say.
//!
//! # Grammar
//!
//! A header line is a line that begins with `//@`, after white space. A key that is not listed here is an error, as is a
//! value that does not fit its key, and a key that is there twice unless it is marked with `*`.
//!
//! ```text
//! line     = "//@" key ":" value | "//@ linearization-point"
//!
//! Programs for `seqcst check` and `seqcst explore`: all five models, or none of them.
//! model    = "sc" | "ra" | "rc11" | "rc20" | "tso"   value: robust | not-robust | race | misuse | assertion | deadlock
//! "flags"                                   value: --deadlock; there is no `deadlock` without it
//! "slow"                                    value: why it is left out where time is short (see `SEQCST_SLOW`)
//!
//! Programs for the sanitizer.
//! "run"                                     value: robust | not-robust | race | misuse | benign-wait | by-schedule
//! "args"                                    value: arguments { "|" arguments }; all of them are tried
//!
//! Libraries; `seqcst library` reads these lines, too, all but the first two (docs/library.md).
//! "verdict"                                 value: robust | not-robust | unproved
//! "because"*                                value: why it is so
//! "specification" | "object" | "one-thread"* | "setup"* | role*
//! role     = "get" | "set" | "add" | "remove" | "contains" | "take" | "steal" | "lock" | "unlock"
//!
//! Drivers of known bugs.
//! "crate" | "package"                       value: name version [ "fixed" version ]
//! "vendor"*                                 value: version sha256
//! "expect"*                                 value: file ":" line [ "-" line ] what stands there
//! ```
//!
//! In a program for the sanitizer `//~` at the end of a line, with one or more of `stale`, `missed`, `race`, `misuse` and `ended`, says what the
//! line may be in a report; alone in its line, it is about the line before. A `robust` one has no such marks, all others do.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// What must be said of a program. Which of these a header may have depends on the key, see the [grammar](self).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every behaviour is one of SC; in a run: no report.
    Robust,
    /// Some behaviour is not.
    NotRobust,
    /// Conflicting accesses that nothing orders.
    Race,
    /// Memory or an object is used after its end, or in a way that is not allowed.
    Misuse,
    /// An assertion that can fail, under SC already.
    Assertion,
    /// No thread can move, under SC already.
    Deadlock,
    /// In a run: a loop spins longer than it would under SC, no more.
    BenignWait,
    /// Not robust, but only under few schedules: a run finds it or not.
    BySchedule,
    /// A library: neither proof nor client.
    Unproved,
}

use Verdict::{Assertion, BenignWait, BySchedule, Deadlock, Misuse, NotRobust, Race, Robust, Unproved};

impl Verdict {
    /// As it stands in headers, and in answers of the tool.
    pub fn name(self) -> &'static str {
        match self {
            Robust => "robust",
            NotRobust => "not-robust",
            Race => "race",
            Misuse => "misuse",
            Assertion => "assertion",
            Deadlock => "deadlock",
            BenignWait => "benign-wait",
            BySchedule => "by-schedule",
            Unproved => "unproved",
        }
    }
}

/// The memory models for which headers have verdicts.
pub const MODELS: [&str; 5] = ["sc", "ra", "rc11", "rc20", "tso"];
const ROLES: [&str; 9] = ["get", "set", "add", "remove", "contains", "take", "steal", "lock", "unlock"];

/// What a header says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// Models and verdicts: those of [`MODELS`], or none.
    pub verdicts: Vec<(&'static str, Verdict)>,
    /// Whether deadlocks are looked for.
    pub deadlock: bool,
    /// Why it is left out where time is short.
    pub slow: Option<String>,
    /// What the sanitizer must find.
    pub run: Option<Verdict>,
    /// The arguments that it is run with, one time after the other; one time without any where the header says nothing.
    pub args: Vec<String>,
    /// What is to be said of the library.
    pub library: Option<Verdict>,
    /// The library with a known bug, and its version.
    pub buggy: Option<String>,
    /// The version without the bug.
    pub fixed: Option<String>,
    /// Versions of the library whose source is needed, with the checksums of their packages.
    pub vendored: Vec<(String, String)>,
    /// Where the bug must be pointed at.
    pub bug_at: Vec<BugAt>,
    /// Lines, and what each may be in a report of the sanitizer: `stale`, `missed`, `race`, `misuse`, `ended`.
    marks: BTreeSet<(u64, String)>,
}

/// A place at which a known bug must be pointed at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BugAt {
    /// The end of a file's path.
    pub file: String,
    /// One of these lines.
    pub lines: RangeInclusive<u64>,
    /// What stands there.
    pub what: String,
}

impl Header {
    /// Reads the header of a text. An error is a number of a line and what is wrong there.
    pub fn read(text: &str) -> Result<Header, (usize, String)> {
        let mut header = Header::default();
        let (mut seen, mut end) = (BTreeSet::new(), 0);
        for (number, line) in (1..).zip(text.lines()) {
            let Some(line) = line.trim().strip_prefix("//@") else { continue };
            end = number;
            if line.trim() == "linearization-point" {
                continue;
            }
            let (key, value) = line.split_once(':').ok_or((number, "`//@` needs `key: value`".to_owned()))?;
            let (key, value) = (key.trim(), value.trim());
            let repeated = header.add(key, value).map_err(|why| (number, why))?;
            if !seen.insert(key.to_owned()) && !repeated {
                return Err((number, format!("`{key}` is there twice")));
            }
        }
        header.read_marks(text)?;
        header.check().map_err(|why| (end, why))?;
        Ok(header)
    }

    /// The verdict for a model.
    pub fn verdict(&self, model: &str) -> Option<Verdict> {
        self.verdicts.iter().find(|(name, _)| *name == model).map(|(_, verdict)| *verdict)
    }

    /// Whether a line may be this in a report. Line 0 is code that the compiler made out of several lines.
    pub fn is_marked(&self, line: u64, word: &str) -> bool {
        line == 0 || self.marks.contains(&(line, word.to_owned()))
    }

    /// Adds a line; gives whether there may be more of its kind.
    fn add(&mut self, key: &str, value: &str) -> Result<bool, String> {
        if value.is_empty() {
            return Err(format!("`{key}` needs a value"));
        }
        if let Some(model) = MODELS.into_iter().find(|model| *model == key) {
            let verdict = one_of(value, &[Robust, NotRobust, Race, Misuse, Assertion, Deadlock])?;
            self.verdicts.push((model, verdict));
            return Ok(false);
        }
        match key {
            "flags" if value == "--deadlock" => self.deadlock = true,
            "flags" => return Err(format!("`{value}` is not `--deadlock`")),
            "slow" => self.slow = Some(value.to_owned()),
            "run" => {
                self.run = Some(one_of(value, &[Robust, NotRobust, Race, Misuse, BenignWait, BySchedule])?)
            }
            "args" => self.args = value.split('|').map(|args| args.trim().to_owned()).collect(),
            "verdict" => self.library = Some(one_of(value, &[Robust, NotRobust, Unproved])?),
            "specification" | "object" => {}
            "crate" | "package" => {
                let (library, fixed) = value.split_once(" fixed ").unzip();
                self.buggy = Some(library.unwrap_or(value).to_owned());
                self.fixed = fixed.map(str::to_owned);
            }
            "vendor" => {
                let (version, sha256) = value.split_once(' ').ok_or("a version and a checksum are needed")?;
                self.vendored.push((version.to_owned(), sha256.to_owned()));
            }
            "expect" => {
                self.bug_at.push(BugAt::read(value).ok_or("`FILE:LINE what stands there` is needed")?)
            }
            "because" | "one-thread" | "setup" => {}
            role if ROLES.contains(&role) => {}
            unknown => return Err(format!("no key is called `{unknown}`: see crates/testing/src/corpus.rs")),
        }
        Ok(["because", "one-thread", "setup", "vendor", "expect"].contains(&key) || ROLES.contains(&key))
    }

    fn read_marks(&mut self, text: &str) -> Result<(), (usize, String)> {
        for (number, line) in (1..).zip(text.lines()) {
            let Some((code, words)) = line.split_once("//~") else { continue };
            let about = if code.trim().is_empty() { number - 1 } else { number };
            for word in words.split_whitespace() {
                if !["stale", "missed", "race", "misuse", "ended"].contains(&word) {
                    return Err((number, format!("a line can't be marked `{word}`")));
                }
                self.marks.insert((about as u64, word.to_owned()));
            }
        }
        Ok(())
    }

    /// What no line can say alone.
    fn check(&mut self) -> Result<(), String> {
        if !self.verdicts.is_empty() {
            let missing = MODELS.into_iter().find(|model| self.verdict(model).is_none());
            missing.map_or(Ok(()), |model| Err(format!("no verdict for {model}")))?;
        }
        if !self.deadlock && self.verdicts.iter().any(|(_, verdict)| *verdict == Deadlock) {
            return Err("no deadlock is found without `flags: --deadlock`".to_owned());
        }
        let marked = self.run.is_some_and(|verdict| verdict != Robust);
        if self.marks.is_empty() == marked {
            return Err("lines are marked with `//~` if and only if the sanitizer finds something".to_owned());
        }
        if self.buggy.is_some() == self.bug_at.is_empty() {
            return Err("a library with a bug needs `expect`, and nothing else does".to_owned());
        }
        if self.args.is_empty() {
            self.args.push(String::new());
        }
        Ok(())
    }
}

impl BugAt {
    /// `src/lib.rs:12-14  what stands there`
    fn read(text: &str) -> Option<BugAt> {
        let (place, what) = text.split_once(' ')?;
        let (file, lines) = place.rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let lines = first.parse().ok()?..=last.parse().ok()?;
        Some(BugAt { file: file.to_owned(), lines, what: what.trim().to_owned() })
    }
}

fn one_of(word: &str, allowed: &[Verdict]) -> Result<Verdict, String> {
    allowed.iter().copied().find(|verdict| verdict.name() == word).ok_or_else(|| {
        let names: Vec<&str> = allowed.iter().map(|verdict| verdict.name()).collect();
        format!("`{word}` is none of {}", names.join(", "))
    })
}

/// A program of the corpus.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// The file's name, without extension.
    pub name: String,
    /// All of the file.
    pub text: String,
    /// What its header says.
    pub header: Header,
}

impl Program {
    /// Reads a file. An error names file and line.
    pub fn read(path: &Path) -> Result<Program, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let header = Header::read(&text);
        let header = header.map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Program { path: path.to_owned(), name, text, header })
    }
}

/// The repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// The programs in a folder of the corpus that have one of these extensions, by name.
pub fn programs(folder: &str, extensions: &[&str]) -> Result<Vec<Program>, String> {
    let folder = root().join("corpus").join(folder);
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| extensions.iter().any(|wanted| e == *wanted)));
    paths.sort();
    paths.iter().map(|path| Program::read(path)).collect()
}

/// The finite-state programs: litmus tests and algorithms. Each has a verdict for every model.
pub fn finite_state() -> Result<Vec<Program>, String> {
    let mut found = programs("litmus", &["tpl", "litmus"])?;
    found.extend(programs("algorithms", &["tpl", "litmus"])?);
    let without = found.iter().find(|program| program.header.verdicts.is_empty());
    without.map_or(Ok(()), |program| Err(format!("{}:1: no verdict", program.path.display())))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fails(text: &str, line: usize, why: &str) {
        assert_eq!(Header::read(text).expect_err("it should not be read"), (line, why.to_owned()));
    }

    #[test]
    fn verdicts_are_read() {
        let text = "// A test.\n//@ sc: deadlock\n  //@ ra: robust\n//@ rc11: race\n//@ rc20: race\n//@ tso: assertion\n//@ flags: --deadlock\n";
        let header = Header::read(text).expect("a header");
        let expected = [("sc", Deadlock), ("ra", Robust), ("rc11", Race), ("rc20", Race), ("tso", Assertion)];
        assert_eq!((&*header.verdicts, header.deadlock), (&expected[..], true));
        assert_eq!((header.verdict("rc20"), header.verdict("power")), (Some(Race), None));
        assert_eq!(header.args, [""]);
    }

    #[test]
    fn marks_and_arguments_are_read() {
        let header =
            Header::read("//@ run: not-robust\n//@ args: 2 | 3 4\na; //~ stale missed\n//~ missed\n");
        let header = header.expect("a header");
        assert_eq!((header.run, &*header.args), (Some(NotRobust), &["2".to_owned(), "3 4".to_owned()][..]));
        assert!(header.is_marked(3, "stale") && header.is_marked(3, "missed") && header.is_marked(0, "race"));
        assert!(!header.is_marked(4, "missed") && !header.is_marked(3, "race"));
    }

    #[test]
    fn bugs_are_read() {
        let text = "//@ crate: a 1.0 fixed 1.1\n//@ vendor: 1.0 abc\n//@ expect: src/lib.rs:7-9  a load\n//@ expect: b.rs:1 c\n";
        let header = Header::read(text).expect("a header");
        assert_eq!((header.buggy.as_deref(), header.fixed.as_deref()), (Some("a 1.0"), Some("1.1")));
        assert_eq!(header.vendored, [("1.0".to_owned(), "abc".to_owned())]);
        let first = BugAt { file: "src/lib.rs".to_owned(), lines: 7..=9, what: "a load".to_owned() };
        assert_eq!((&header.bug_at[0], header.bug_at.len()), (&first, 2));
    }

    #[test]
    fn what_is_wrong_is_an_error_with_its_line() {
        fails("\n//@ power: robust\n", 2, "no key is called `power`: see crates/testing/src/corpus.rs");
        fails("//@ sc robust\n", 1, "`//@` needs `key: value`");
        fails("//@ sc: rob\n", 1, "`rob` is none of robust, not-robust, race, misuse, assertion, deadlock");
        fails(
            "//@ run: deadlock\n",
            1,
            "`deadlock` is none of robust, not-robust, race, misuse, benign-wait, by-schedule",
        );
        fails("//@ sc: race\n//@ sc: race\n", 2, "`sc` is there twice");
        fails("//@ sc: robust\n//@ ra: robust\n", 2, "no verdict for rc11");
        fails("//@ flags: --all\n", 1, "`--all` is not `--deadlock`");
        fails("//@ slow:\n", 1, "`slow` needs a value");
        fails("//@ expect: src/lib.rs a load\n", 1, "`FILE:LINE what stands there` is needed");
        fails("//@ vendor: 1.0\n", 1, "a version and a checksum are needed");
        fails("//@ crate: a 1.0\n", 1, "a library with a bug needs `expect`, and nothing else does");
        fails("//@ run: race\nx; //~ rac\n", 2, "a line can't be marked `rac`");
        let marks = "lines are marked with `//~` if and only if the sanitizer finds something";
        fails("//@ run: race\nx;\n", 1, marks);
        fails("//@ run: robust\nx; //~ race\n", 1, marks);
        let models = MODELS.map(|model| format!("//@ {model}: deadlock\n")).concat();
        fails(&models, MODELS.len(), "no deadlock is found without `flags: --deadlock`");
    }

    /// Every file of the corpus, also where no engine looks.
    #[test]
    fn every_header_follows_the_grammar() {
        let (mut folders, mut with_header) = (vec![root().join("corpus")], 0);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the corpus").flatten() {
                let path = entry.path();
                let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
                if path.is_dir() && !path.ends_with("target") {
                    folders.push(path);
                } else if ["tpl", "litmus", "c", "h", "cpp", "rs"].contains(&&*extension) {
                    let program = Program::read(&path).unwrap_or_else(|why| panic!("{why}"));
                    with_header += usize::from(program.text.contains("//@"));
                }
            }
        }
        assert!(with_header > 200, "only {with_header} headers");
    }
}

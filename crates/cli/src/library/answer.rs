//! A library to an answer.

use super::tried::{self, Tried};
use super::witness;
use crate::Status;
use crate::flags::LibraryFlags;
use seqcst_library::c::{self, Error};
use seqcst_library::code::{Library, Site};
use seqcst_library::mutate::{Mutant, mutants};
use seqcst_library::prove::{self, Constraint, Failure, Outcome, Partial};
use seqcst_library::rho::{self, Transformed};
use seqcst_library::solver::{self, Pool};
use seqcst_report::Finding;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A library that was read.
pub struct Loaded {
    /// Its path, as given.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
    /// As it is written.
    pub library: Library,
    /// As it is analysed.
    pub transformed: Transformed,
    /// What is weaker than in the file, and where.
    pub mutant: Option<(String, Site)>,
}

impl Loaded {
    /// Reads a library.
    pub fn new(path: &Path, flags: &LibraryFlags) -> Result<Loaded, String> {
        let (name, text) = read(path)?;
        let options = c::Options { contract: flags.spec.clone(), definitions: flags.define.clone() };
        let library = c::read(&name, &text, &options).map_err(|error| complaint(&error))?;
        let transformed = rho::apply(&library);
        Ok(Loaded { name, text, library, transformed, mutant: None })
    }

    /// All weakened copies.
    pub fn mutants(&self) -> Vec<Loaded> {
        let loaded = |mutant: Mutant| Loaded {
            name: self.name.clone(),
            text: self.text.clone(),
            transformed: rho::apply(&mutant.library),
            library: mutant.library,
            mutant: Some((mutant.description, mutant.site)),
        };
        mutants(&self.library).into_iter().map(loaded).collect()
    }

    /// Loops replaced by blocking accesses make a weaker statement: about what calls return, not about every access.
    pub fn notion(&self) -> &'static str {
        if self.transformed.changes.is_empty() { "execution-graph" } else { "induced-subgraph" }
    }
}

/// More is no library.
const LARGEST: u64 = 4 << 20;

/// A file's name and contents.
pub fn read(path: &Path) -> Result<(String, Vec<u8>), String> {
    let name: String =
        path.display().to_string().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let why = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{name}: error: no such file\n"),
        std::io::ErrorKind::PermissionDenied => format!("{name}: error: permission denied\n"),
        _ => format!("{name}: error: {error}\n"),
    };
    let metadata = fs::metadata(path).map_err(why)?;
    if metadata.is_dir() {
        return Err(format!("{name}: error: this is a directory; name the files in it\n"));
    }
    if metadata.len() > LARGEST {
        return Err(format!("{name}: error: larger than {} MB\n", LARGEST >> 20));
    }
    let text = fs::read(path).map_err(why)?;
    Ok((name, text))
}

/// `file:line:column: error: …`
pub fn complaint(error: &Error) -> String {
    match error.line {
        0 => format!("{}: error: {}\n", error.file, error.message),
        _ => format!("{}:{}:{}: error: {}\n", error.file, error.line, error.column, error.message),
    }
}

/// How long clients are looked for before a proof is looked for more deeply.
const GLANCE: Duration = Duration::from_secs(1);

/// What is known about a library.
pub struct Answer {
    /// The library.
    pub loaded: Loaded,
    /// What became of the proof.
    pub outcome: Outcome,
    /// What is in the way of it, for renderers.
    pub finding: Option<Finding>,
    /// Clients that were looked for, if any were.
    pub tried: Option<Tried>,
    /// How long the proof took.
    pub proof_seconds: f64,
    /// How long everything took.
    pub seconds: f64,
}

impl Answer {
    /// Proves, or says what is in the way.
    pub fn new(
        loaded: Loaded,
        pool: &mut Pool,
        disabled: &[Constraint],
        flags: &LibraryFlags,
    ) -> Result<Answer, solver::Error> {
        let start = Instant::now();
        let time_limit = Some(flags.proof_limit);
        let options = prove::Options { disabled: disabled.to_vec(), time_limit };
        // A client that is found at once makes looking for a proof a waste of time, unless that is to be explained.
        let mut early = None;
        let mut is_real = |partial: &Partial| {
            if !flags.no_try && !flags.explain {
                let tried = tried::look(
                    &loaded.transformed.library,
                    partial,
                    &flags.bounds,
                    flags.try_time.min(GLANCE),
                );
                early = Some(tried).filter(|tried| matches!(tried, Tried::Confirmed { .. }));
            }
            early.is_some()
        };
        let outcome = prove::prove_unless(&loaded.transformed.library, pool, &options, &mut is_real)?;
        let proof_seconds = start.elapsed().as_secs_f64();
        let mut answer = Answer { loaded, outcome, finding: None, tried: early, proof_seconds, seconds: 0.0 };
        if let Some(partial) = answer.partial() {
            answer.finding = Some(witness::finding(&answer.loaded, partial, proof_seconds));
        }
        if !flags.no_try && answer.tried.is_none() {
            let library = &answer.loaded.transformed.library;
            let look = |partial| tried::look(library, partial, &flags.bounds, flags.try_time);
            answer.tried = answer.partial().map(look);
            // Mutants are there to be contradicted, proofs included.
            if answer.tried.is_none() && answer.loaded.mutant.is_some() {
                answer.tried = Some(tried::any(library, &flags.bounds, flags.try_time));
            }
        }
        answer.seconds = start.elapsed().as_secs_f64();
        Ok(answer)
    }

    /// What is in the way of a proof.
    pub fn partial(&self) -> Option<&Partial> {
        self.outcome.classes.iter().find_map(|class| match &class.failure {
            Some(Failure::Witness(partial)) => Some(&**partial),
            _ => None,
        })
    }

    /// Why the solver gave up, if it did.
    pub fn why_unknown(&self) -> Option<&str> {
        self.outcome.classes.iter().find_map(|class| match &class.failure {
            Some(Failure::Unknown { why }) => Some(why.as_str()),
            _ => None,
        })
    }

    /// The answer in a word.
    pub fn verdict(&self) -> &'static str {
        match (self.partial(), self.why_unknown()) {
            (Some(_), _) => "may-be-non-robust",
            (None, Some(_)) => "gave-up",
            (None, None) => "robust",
        }
    }

    /// For the exit code.
    pub fn status(&self) -> Status {
        match self.verdict() {
            "robust" => Status::Holds,
            "gave-up" => Status::GaveUp,
            _ => Status::Violation,
        }
    }

    /// The name of a class.
    pub fn class(&self, class: seqcst_library::code::ClassId) -> &str {
        self.loaded.library.classes.get(class.0 as usize).map_or("?", |class| class.name.as_str())
    }
}

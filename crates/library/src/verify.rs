//! From the source of a library to a verdict: ρ, the proof, and clients that confirm a counterexample to induction.
//!
//! *Clients first.* If a proof obligation fails, a client that is found at once makes looking for a deeper proof a waste of
//! time. So the first counterexample of each class is tried on small clients, briefly, before the proof goes on.

mod answer;
mod witness;

pub(crate) use answer::{place, tried_client};

use crate::c;
use crate::client::{Bounds, Tried, try_any, try_objects, try_partial};
use crate::code::{ClassId, Library, Site};
use crate::mutate::{Mutant, mutants};
use crate::prove::{self, Failure, Outcome, Partial};
use crate::rho::{self, Transformed};
use crate::solver::{self, Pool};
use seqcst_report::Verdict;
use std::time::{Duration, Instant};

/// A library to be verified.
pub struct Subject {
    /// Its path, as given.
    pub name: String,
    /// Its source.
    pub text: Vec<u8>,
    /// As it is written.
    pub library: Library,
    /// As it is analysed.
    pub transformed: Transformed,
    /// What is weaker than in the file, and where.
    pub mutant: Option<(String, Site)>,
}

impl Subject {
    /// Reads C11 and applies ρ.
    pub fn read(name: String, text: Vec<u8>, options: &c::Options) -> Result<Subject, c::Error> {
        let library = c::read(&name, &text, options)?;
        let transformed = rho::apply(&library);
        Ok(Subject { name, text, library, transformed, mutant: None })
    }

    /// All weakened copies.
    pub fn mutants(&self) -> Vec<Subject> {
        let subject = |mutant: Mutant| Subject {
            name: self.name.clone(),
            text: self.text.clone(),
            transformed: rho::apply(&mutant.library),
            library: mutant.library,
            mutant: Some((mutant.description, mutant.site)),
        };
        mutants(&self.library).into_iter().map(subject).collect()
    }

    /// Loops replaced by blocking accesses make a weaker statement: about what calls return, not about every access.
    pub fn notion(&self) -> &'static str {
        if self.transformed.changes.is_empty() { "execution-graph" } else { "induced-subgraph" }
    }
}

/// Limits of a verification.
#[derive(Clone, Debug)]
pub struct Options {
    /// For the proof.
    pub proof: prove::Options,
    /// Bounds of the search for clients that confirm a counterexample; none: there is no search.
    pub clients: Option<Bounds>,
    /// Prove as much as possible, even if a client shows at once that there is no proof for all of it.
    pub is_proof_complete: bool,
}

/// How long clients are looked for before a proof is looked for more deeply.
const QUICK_SEARCH_LIMIT: Duration = Duration::from_secs(1);

/// How long clients of two objects are looked for: where there is one, it is mostly found among the first.
const OBJECTS_SEARCH_LIMIT: Duration = Duration::from_secs(3);

/// What is known about a library.
pub struct Verified {
    /// The library.
    pub subject: Subject,
    /// Results of the proof, by class.
    pub outcome: Outcome,
    /// The search for clients of one object, if there was one.
    pub tried: Option<Tried>,
    /// The search for clients of two objects, if there was one.
    pub tried_objects: Option<Tried>,
    /// Seconds that the proof took, and the search for clients that guided it.
    pub proof_seconds: f64,
}

/// Proves that a library is robust for every client, or finds a proof obligation that fails and a client that confirms it.
pub fn verify(subject: Subject, pool: &mut Pool, options: &Options) -> Result<Verified, solver::Error> {
    let start = Instant::now();
    let library = &subject.transformed.library;
    let within = |limit| options.clients.map(|bounds| Bounds { time: bounds.time.min(limit), ..bounds });
    let quick = within(QUICK_SEARCH_LIMIT).filter(|_| !options.is_proof_complete);
    let (mut early, mut tried_objects) = (None, None);
    let mut is_real = |partial: &Partial| {
        early = quick.map(|bounds| try_partial(library, partial, &bounds)).filter(is_confirmed);
        early.is_some()
    };
    let mut is_one_object = || {
        tried_objects = within(OBJECTS_SEARCH_LIMIT).and_then(|bounds| try_objects(library, &bounds));
        tried_objects.as_ref().is_some_and(is_confirmed)
    };
    let clients = prove::Clients { is_real: &mut is_real, is_one_object: &mut is_one_object };
    let outcome = prove::prove_unless(library, pool, &options.proof, clients)?;
    let proof_seconds = start.elapsed().as_secs_f64();
    let tried = early.or_else(|| match (options.clients, counterexample(&outcome)) {
        (Some(bounds), Some(partial)) => Some(try_partial(library, partial, &bounds)),
        // No answer is no reason not to look for clients; and mutants are there to be contradicted, proofs included.
        (Some(bounds), None) if !outcome.is_robust() || subject.mutant.is_some() => {
            Some(try_any(library, &bounds))
        }
        _ => None,
    });
    Ok(Verified { subject, outcome, tried, tried_objects, proof_seconds })
}

fn is_confirmed(tried: &Tried) -> bool {
    matches!(tried, Tried::Confirmed(_))
}

/// The first counterexample to induction: of a class that has no proof, or else of one for which there is no answer.
fn counterexample(outcome: &Outcome) -> Option<&Partial> {
    let failures = || outcome.classes.iter().filter_map(|class| class.failure.as_ref());
    let refuted = failures().find_map(|failure| match failure {
        Failure::Witness(partial) => Some(&**partial),
        _ => None,
    });
    refuted.or_else(|| {
        failures().find_map(|failure| match failure {
            Failure::Unknown { partial, .. } => partial.as_deref(),
            _ => None,
        })
    })
}

impl Verified {
    /// The first counterexample to induction, if that is the answer.
    pub fn counterexample(&self) -> Option<&Partial> {
        counterexample(&self.outcome).filter(|_| self.verdict() == Verdict::MayBeNonRobust)
    }

    /// Why the solver gave up, if it did.
    pub fn why_unknown(&self) -> Option<&str> {
        self.outcome.classes.iter().find_map(|class| match &class.failure {
            Some(Failure::Unknown { why, .. }) => Some(why.as_str()),
            _ => None,
        })
    }

    /// The answer in a word.
    pub fn verdict(&self) -> Verdict {
        let has_witness =
            self.outcome.classes.iter().any(|class| matches!(class.failure, Some(Failure::Witness(_))));
        match self.why_unknown() {
            None if self.outcome.is_robust() => Verdict::Robust,
            Some(_) if !has_witness && !self.tried.as_ref().is_some_and(is_confirmed) => Verdict::GaveUp,
            _ => Verdict::MayBeNonRobust,
        }
    }

    /// The name of a class.
    pub fn class(&self, class: ClassId) -> &str {
        self.subject.library.classes.get(class.0 as usize).map_or("?", |class| class.name.as_str())
    }
}

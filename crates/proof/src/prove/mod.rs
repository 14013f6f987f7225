//! The proof: conditions of \[RoboCop24] for every class of locations, as questions to the solver.
//!
//! * [`segments`]: methods as loop-free guarded code; [`sections`]: locks;
//! * [`facts`]: the derived constraints that static analysis finds;
//! * [`execution`]: partial executions under SC, and what RC20 makes known;
//! * [`conditions`]: Φdst, Φsrc and Φfence;
//! * `wrapping`: counters that are taken not to wrap around;
//! * [`partial`]: what is shown when none of them holds.

pub mod conditions;
pub mod exclusive;
pub mod execution;
pub mod facts;
mod invariants;
pub mod partial;
pub mod sections;
pub mod segments;
pub mod term;
mod wrapping;

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

pub use facts::Constraint;
pub use partial::{Event, EventIndex, Invocation, Partial};

use crate::solver::{Answer, Error, Pool};
use conditions::{Case, Depth, StepId, accesses};
use execution::ProofContext;
use facts::Facts;
use seqcst_c11::code::{ClassId, Library, Mode};

/// Options of a proof.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Derived constraints that are not used.
    pub disabled: Vec<Constraint>,
    /// For the whole proof: what is not answered by then is not known.
    pub time_limit: Option<Duration>,
}

/// A condition that excludes witnesses for a write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// Φdst: accesses that could miss the write know it.
    Destination,
    /// Φsrc: the write is known wherever SC order leads.
    Source,
    /// Φfence: it is known, or an SC fence makes it known in time.
    Fence,
    /// Plain memory, and initialisation: all conflicting accesses are ordered by `hb`, so none can be stale.
    RaceFree,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Condition::Destination => "destination",
            Condition::Source => "source",
            Condition::Fence => "fence",
            Condition::RaceFree => "race-free",
        })
    }
}

/// What came out for a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassResult {
    /// The class of locations.
    pub class: ClassId,
    /// The conditions that hold for its writes; none if one of them has none.
    pub conditions: Vec<Condition>,
    /// Questions that were asked.
    pub questions: usize,
    /// Derived constraints that the proof needs, if cores were wanted.
    pub used: Vec<Constraint>,
    /// Why it isn't proved.
    pub failure: Option<Failure>,
}

/// Why a class isn't proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// A partial execution in which an access may be stale.
    Witness(Box<Partial>),
    /// It was not looked at: the library is refuted already.
    Skipped,
    /// The solver gave up.
    Unknown {
        /// What the solver says.
        why: String,
    },
}

/// What came out for a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// One result per class.
    pub classes: Vec<ClassResult>,
    /// What the proof takes for granted, in words.
    pub assumptions: Vec<String>,
    /// Questions that were asked in all.
    pub questions: usize,
}

impl Outcome {
    /// Is every class proved?
    pub fn is_robust(&self) -> bool {
        self.classes.iter().all(|c| c.failure.is_none())
    }
}

/// Tries to prove that a library (after ρ) is execution-graph robust for every client that keeps its contract.
pub fn prove(library: &Library, pool: &mut Pool, options: &Options) -> Result<Outcome, Error> {
    prove_unless(library, pool, options, &mut |_| false)
}

/// Does the same, but no more than necessary once it is known that there is no proof: `is_real` is asked about the first
/// counterexample to induction that is found for a class, before the class is looked at more deeply.
pub fn prove_unless(
    library: &Library,
    pool: &mut Pool,
    options: &Options,
    is_real: &mut dyn FnMut(&Partial) -> bool,
) -> Result<Outcome, Error> {
    let joined = sections::join(library);
    let analysed = joined.as_ref().map_or(library, |joined| &joined.library);
    let mut segments: Vec<_> = analysed
        .methods
        .iter()
        .enumerate()
        .flat_map(|(index, method)| segments::segments(index, method))
        .collect();
    let mut facts = Facts::of(analysed, &segments, joined.as_ref(), &options.disabled);
    wrapping::assume(&mut segments, &mut facts, &analysed.classes);
    let before = pool.asked();
    pool.deadline = options.time_limit.map(|limit| Instant::now() + limit);
    if !options.disabled.contains(&Constraint::ExclusiveWrite) {
        for class in (0..analysed.classes.len()).map(|class| ClassId(class as u32)) {
            let known = &facts.classes[class.0 as usize];
            if known.counter.is_some() || known.is_updates_only {
                continue;
            }
            let is_counter = !options.disabled.contains(&Constraint::Counter);
            for (segments_so, facts_so) in
                wrapping::ways(&segments, &facts, &analysed.classes, class, is_counter)
            {
                let mut context = ProofContext { library: analysed, segments: &segments_so, facts: facts_so };
                if exclusive::holds(&context, class, pool)? {
                    let is_atomic = analysed.classes[class.0 as usize].is_atomic;
                    let is_handed_on = is_atomic && exclusive::is_handed_on(&context, class);
                    let found = &mut context.facts.classes[class.0 as usize];
                    found.counter = is_counter.then_some(false);
                    found.is_exclusive = true;
                    found.is_handed_on = is_handed_on;
                    facts = context.facts;
                    segments = segments_so;
                    break;
                }
            }
        }
    }
    let mut context = ProofContext { library: analysed, segments: &segments, facts };
    if !options.disabled.contains(&Constraint::Bound) {
        context.facts.bounds = invariants::bounds(&context, pool)?;
    }
    let mut prover = Prover { context: &context, pool, deepest: Depth::Reads, is_real, is_refuted: false };
    if options.disabled.contains(&Constraint::Writers) {
        prover.deepest = Depth::Calls;
    }
    let classes = (0..analysed.classes.len())
        .map(|k| prover.class(ClassId(k as u32)))
        .collect::<Result<Vec<_>, _>>()?;
    let questions = pool.asked() - before;
    Ok(Outcome { classes, assumptions: assumptions(&context), questions })
}

fn assumptions(context: &ProofContext) -> Vec<String> {
    let library = context.library;
    let mut said = vec![
        "clients use one object, which begins as initializers and setup leave it, or else zeroed".to_owned(),
        "what C leaves undefined does not happen: overflow of signed numbers, shifts by too many bits, division by 0"
            .to_owned(),
    ];
    said.extend(wrapping::assumptions(context));
    let steps = || context.segments.iter().flat_map(|segment| &segment.steps);
    if steps().any(|step| matches!(step.action, segments::Action::Allocate { .. })) {
        said.push("allocations succeed".to_owned());
    }
    if steps().any(|step| step.is_access() && step.order == Mode::SeqCst) {
        said.push(
            "the model is RC20: a seq_cst access is an SC fence followed by the access (C11 promises less beside weaker accesses)"
                .to_owned(),
        );
    } else if steps().any(|step| step.order == Mode::SeqCst) {
        said.push(
            "the model is RC20: SC fences happen before one another in some order (C11 promises a little less)".to_owned(),
        );
    }
    for group in &library.contract.one_thread {
        said.push(format!("one thread makes all calls of {}", group.join(", ")));
    }
    if context.facts.section.is_some() {
        said.push("a thread unlocks what it has locked before; the lock is correct under SC".to_owned());
    }
    if !library.contract.points.is_empty() && context.facts.section.is_some() {
        said.push("the declared linearization points are right".to_owned());
    }
    said
}

struct Prover<'a, 'p> {
    context: &'a ProofContext<'a>,
    pool: &'p mut Pool,
    deepest: Depth,
    is_real: &'p mut dyn FnMut(&Partial) -> bool,
    /// A client shows that there is no proof.
    is_refuted: bool,
}

/// The answers to some questions together.
enum Verdict {
    Holds { used: Vec<String> },
    Fails { case: Case, values: Vec<(String, String)> },
    Unknown { why: String },
}

/// What to show of two failures: an execution rather than no answer, and the one that was looked at more deeply; of those
/// without an answer the first, which had the most time.
fn worse(old: Option<Verdict>, new: Verdict) -> Verdict {
    match (old, new) {
        (Some(old), Verdict::Unknown { .. }) => old,
        (_, new) => new,
    }
}

impl Prover<'_, '_> {
    fn class(&mut self, class: ClassId) -> Result<ClassResult, Error> {
        let before = self.pool.asked();
        let mut result =
            ClassResult { class, conditions: Vec::new(), questions: 0, used: Vec::new(), failure: None };
        let mut labels = Vec::new();
        if self.is_refuted {
            result.failure = Some(Failure::Skipped);
            return Ok(result);
        }
        if self.context.library.classes[class.0 as usize].is_atomic {
            for suspect in accesses(self.context, class) {
                if suspect.of(self.context).writes() && result.failure.is_none() {
                    self.suspect(class, suspect, &mut result, &mut labels)?;
                }
            }
        }
        if result.failure.is_none() {
            self.races(class, &mut result, &mut labels)?;
        }
        if result.failure.is_some() {
            result.conditions.clear();
        }
        result.conditions.sort_unstable();
        result.conditions.dedup();
        result.used = Constraint::ALL.into_iter().filter(|c| labels.iter().any(|l| l == c.name())).collect();
        result.questions = self.pool.asked() - before;
        Ok(result)
    }

    /// Plain memory (and the initialisation of atomic objects) must not be raced on: C gives such executions no meaning. Without races no plain access is stale, and it is
    /// enough to look for them in SC executions.
    fn races(
        &mut self,
        class: ClassId,
        result: &mut ClassResult,
        labels: &mut Vec<String>,
    ) -> Result<(), Error> {
        let cases = conditions::races(self.context, class);
        if !cases.is_empty() || !self.context.library.classes[class.0 as usize].is_atomic {
            result.conditions.push(Condition::RaceFree);
        }
        for case in cases {
            let mut failure = None;
            for depth in self.depths() {
                match self.ask(vec![case], depth)? {
                    Verdict::Holds { used } => {
                        labels.extend(used);
                        failure = None;
                        break;
                    }
                    other => failure = Some(worse(failure, other)),
                }
                if self.is_late() || self.refutes(class, failure.as_ref(), depth) {
                    break;
                }
            }
            if let Some(failure) = failure {
                result.failure = Some(self.failure(class, failure));
                return Ok(());
            }
        }
        Ok(())
    }

    fn depths(&self) -> Vec<Depth> {
        let mut depths = vec![Depth::Calls, Depth::Locations, Depth::Reads];
        depths.retain(|d| *d <= self.deepest);
        depths
    }

    fn is_late(&self) -> bool {
        self.pool.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }

    /// Is what was found first for a class, without looking deeply, real?
    fn refutes(&mut self, class: ClassId, failure: Option<&Verdict>, depth: Depth) -> bool {
        if let (Depth::Calls, Some(Verdict::Fails { case, values })) = (depth, failure) {
            self.is_refuted = (self.is_real)(&Partial::new(self.context, class, *case, values));
        }
        self.is_refuted
    }

    fn failure(&self, class: ClassId, verdict: Verdict) -> Failure {
        match verdict {
            Verdict::Fails { case, values } => {
                Failure::Witness(Box::new(Partial::new(self.context, class, case, &values)))
            }
            Verdict::Unknown { why } => Failure::Unknown { why },
            Verdict::Holds { .. } => Failure::Unknown { why: "no answer".to_owned() },
        }
    }

    /// Finds a condition for one write of the library.
    fn suspect(
        &mut self,
        class: ClassId,
        suspect: StepId,
        result: &mut ClassResult,
        labels: &mut Vec<String>,
    ) -> Result<(), Error> {
        let context = self.context;
        let mut open = accesses(context, class);
        let mut failure = None;
        for depth in self.depths() {
            let mut left = Vec::new();
            for access in open {
                match self.ask(vec![Case::Destination { suspect, access }], depth)? {
                    Verdict::Holds { used } => {
                        labels.extend(used);
                        result.conditions.push(Condition::Destination);
                    }
                    other => {
                        failure = Some(worse(failure, other));
                        left.push(access);
                    }
                }
            }
            open = left;
            if open.is_empty() {
                return Ok(());
            }
            if let Verdict::Holds { used } = self.ask(conditions::source(context, suspect, false), depth)? {
                labels.extend(used);
                result.conditions.push(Condition::Source);
                return Ok(());
            }
            if self.has_fences()
                && let Verdict::Holds { used } =
                    self.ask(conditions::source(context, suspect, true), depth)?
            {
                let cases =
                    open.iter().flat_map(|access| conditions::warned(context, suspect, *access)).collect();
                match self.ask(cases, depth)? {
                    Verdict::Holds { used: more } => {
                        labels.extend(used);
                        labels.extend(more);
                        result.conditions.push(Condition::Fence);
                        return Ok(());
                    }
                    other => failure = Some(worse(failure, other)),
                }
            }
            if self.is_late() || self.refutes(class, failure.as_ref(), depth) {
                break;
            }
        }
        result.failure = failure.map(|verdict| self.failure(class, verdict));
        Ok(())
    }

    fn has_fences(&self) -> bool {
        let mut steps = self.context.segments.iter().flat_map(|s| &s.steps);
        steps.any(|s| s.is_fence() && s.order == Mode::SeqCst)
    }

    fn ask(&mut self, cases: Vec<Case>, depth: Depth) -> Result<Verdict, Error> {
        let context = self.context;
        let mut verdict = Verdict::Holds { used: Vec::new() };
        let questions = cases.iter().map(|case| case.question(context, depth));
        self.pool.ask(questions, |number, answer| match answer {
            Answer::Unsat { core } => {
                if let Verdict::Holds { used } = &mut verdict {
                    used.extend(core);
                }
                ControlFlow::Continue(())
            }
            Answer::Sat { values } => {
                verdict = Verdict::Fails { case: cases[number], values };
                ControlFlow::Break(())
            }
            Answer::Unknown { why } => {
                verdict = Verdict::Unknown { why };
                ControlFlow::Break(())
            }
        })?;
        Ok(verdict)
    }
}

//! The proof: conditions of \[RoboCop24] for every class of locations, as questions to the solver.
//!
//! * [`segments`]: methods as loop-free guarded code; [`sections`]: locks;
//! * [`facts`]: the derived constraints that static analysis finds;
//! * [`execution`]: partial executions under SC, and what RC20 makes known;
//! * [`conditions`]: Φdst, Φsrc and Φfence;
//! * `wrapping`: counters that are taken not to wrap around;
//! * [`objects`]: which clients a proof covers;
//! * [`partial`]: what is shown when none of them holds.

pub mod conditions;
pub mod exclusive;
pub mod execution;
pub mod facts;
mod invariants;
pub mod objects;
pub mod partial;
pub mod sections;
pub mod segments;
pub mod term;
mod wrapping;

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

pub use facts::Constraint;
pub use objects::Objects;
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
    /// A question that could have brought a proof has no answer.
    Unknown {
        /// What the solver says, or the limit that was reached.
        why: String,
        /// A partial execution that answers to other questions gave: a client may show that it is real.
        partial: Option<Box<Partial>>,
    },
}

/// What came out for a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// One result per class.
    pub classes: Vec<ClassResult>,
    /// Which clients a proof covers; of use only if every class is proved.
    pub objects: Objects,
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
    let clients = Clients { is_real: &mut |_| false, is_one_object: &mut || false };
    prove_unless(library, pool, options, clients)
}

/// What clients show, so that the proof is no longer looked for than there can be one.
pub struct Clients<'a> {
    /// Is a counterexample to induction real? Asked about the first one that is found for a class, before the class is looked at
    /// more deeply.
    pub is_real: &'a mut dyn FnMut(&Partial) -> bool,
    /// Is there a client of several objects that is not robust? Asked when clients of one object are.
    pub is_one_object: &'a mut dyn FnMut() -> bool,
}

/// Does the same, but no more than necessary once it is known that there is no proof.
pub fn prove_unless(
    library: &Library,
    pool: &mut Pool,
    options: &Options,
    clients: Clients,
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
    let mut doubt = None;
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
                if exclusive::holds(&context, class, pool)?.is_yes(&mut doubt) {
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
        context.facts.bounds = invariants::bounds(&context, pool, &mut doubt)?;
    }
    let mut prover = Prover {
        context: &context,
        pool,
        deepest: Depth::Reads,
        clients,
        is_refuted: false,
        doubt,
        limit: options.time_limit,
        not_by_destination: Vec::new(),
    };
    if options.disabled.contains(&Constraint::Writers) {
        prover.deepest = Depth::Calls;
    }
    let mut classes = (0..analysed.classes.len())
        .map(|k| prover.class(ClassId(k as u32)))
        .collect::<Result<Vec<_>, _>>()?;
    let objects = prover.objects(&mut classes)?;
    let questions = pool.asked() - before;
    Ok(Outcome { classes, objects, assumptions: assumptions(&context, objects), questions })
}

fn assumptions(context: &ProofContext, objects: Objects) -> Vec<String> {
    let library = context.library;
    let state = match objects {
        Objects::Global => "the library's state is global, and begins as initializers and setup leave it",
        Objects::One => "clients use one object, which begins as initializers and setup leave it",
        Objects::Any => {
            "every object begins as initializers and setup leave it, known to all threads that use it"
        }
    };
    let mut said = vec![
        format!("{state}, or else zeroed"),
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
        let each = if objects == Objects::Any { "for each object, " } else { "" };
        said.push(format!("{each}one thread makes all calls of {}", group.join(", ")));
    }
    if context.facts.section.is_some() {
        said.push("a thread unlocks what it has locked before; the lock is correct under SC".to_owned());
    }
    if !library.contract.points.is_empty() && context.facts.section.is_some() {
        said.push("the declared linearization points are right".to_owned());
    }
    said
}

struct Prover<'a, 'p, 'c> {
    context: &'a ProofContext<'a>,
    pool: &'p mut Pool,
    deepest: Depth,
    clients: Clients<'c>,
    /// A client shows that there is no proof.
    is_refuted: bool,
    /// Why a fact that would help is not known, if the solver had no answer.
    doubt: Option<String>,
    limit: Option<Duration>,
    /// Accesses for which another condition than destination holds, with the writes that they might miss.
    not_by_destination: Vec<(ClassId, StepId, StepId)>,
}

/// The answers to some questions together.
enum Verdict {
    Holds { used: Vec<String> },
    Fails { case: Case, values: Vec<(String, String)> },
    Unknown { why: String },
}

/// What has gone wrong so far: where all questions of the deepest look have answers there is no proof, and else nobody knows.
#[derive(Default)]
struct Open {
    /// The execution that was found last.
    fails: Option<(Case, Vec<(String, String)>)>,
    /// Why a question of the current depth has no answer.
    unknown: Option<String>,
}

impl Open {
    fn note(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Holds { .. } => {}
            Verdict::Fails { case, values } => self.fails = Some((case, values)),
            Verdict::Unknown { why } => self.unknown = self.unknown.take().or(Some(why)),
        }
    }
}

impl Prover<'_, '_, '_> {
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
            let mut open = Open::default();
            let mut holds = false;
            for depth in self.depths() {
                open.unknown = None;
                match self.ask(vec![case], depth)? {
                    Verdict::Holds { used } => {
                        labels.extend(used);
                        holds = true;
                        break;
                    }
                    other => open.note(other),
                }
                if self.ends(class, &mut open, depth) {
                    break;
                }
            }
            if !holds {
                result.failure = Some(self.failure(class, open));
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

    /// Is it no use to look more deeply: no time is left, or a client shows that what was found first is real?
    fn ends(&mut self, class: ClassId, open: &mut Open, depth: Depth) -> bool {
        if let (Depth::Calls, Some((case, values))) = (depth, &open.fails) {
            self.is_refuted = (self.clients.is_real)(&Partial::new(self.context, class, *case, values));
        }
        if self.is_late() && depth < self.deepest && open.unknown.is_none() {
            let limit = self.limit.unwrap_or_default().as_secs_f64();
            open.unknown = Some(format!("the limit of {limit} s for the proof was reached"));
        }
        self.is_refuted || self.is_late()
    }

    fn failure(&self, class: ClassId, open: Open) -> Failure {
        let partial =
            open.fails.map(|(case, values)| Box::new(Partial::new(self.context, class, case, &values)));
        let unknown = open.unknown.or_else(|| self.doubt.clone()).filter(|_| !self.is_refuted);
        match (unknown, partial) {
            (None, Some(partial)) => Failure::Witness(partial),
            (why, partial) => {
                Failure::Unknown { why: why.unwrap_or_else(|| "no answer".to_owned()), partial }
            }
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
        let mut left = accesses(context, class);
        let mut open = Open::default();
        for depth in self.depths() {
            open.unknown = None;
            for access in std::mem::take(&mut left) {
                match self.ask(vec![Case::Destination { suspect, access }], depth)? {
                    Verdict::Holds { used } => {
                        labels.extend(used);
                        result.conditions.push(Condition::Destination);
                    }
                    other => {
                        open.note(other);
                        left.push(access);
                    }
                }
            }
            if left.is_empty() {
                return Ok(());
            }
            let by_other = left.iter().map(|access| (class, suspect, *access));
            match self.ask(conditions::source(context, suspect, false), depth)? {
                Verdict::Holds { used } => {
                    labels.extend(used);
                    result.conditions.push(Condition::Source);
                    self.not_by_destination.extend(by_other);
                    return Ok(());
                }
                Verdict::Unknown { why } => open.note(Verdict::Unknown { why }),
                // What an access misses says more than what SC's order leads to.
                Verdict::Fails { .. } => {}
            }
            if self.has_fences() {
                match self.ask(conditions::source(context, suspect, true), depth)? {
                    Verdict::Holds { used } => {
                        let warned = |access: &StepId| conditions::warned(context, suspect, *access);
                        match self.ask(left.iter().flat_map(warned).collect(), depth)? {
                            Verdict::Holds { used: more } => {
                                labels.extend(used);
                                labels.extend(more);
                                result.conditions.push(Condition::Fence);
                                self.not_by_destination.extend(by_other);
                                return Ok(());
                            }
                            other => open.note(other),
                        }
                    }
                    Verdict::Unknown { why } => open.note(Verdict::Unknown { why }),
                    Verdict::Fails { .. } => {}
                }
            }
            if self.ends(class, &mut open, depth) {
                break;
            }
        }
        result.failure = Some(self.failure(class, open));
        Ok(())
    }

    /// Which clients the proof covers, once every class is proved: where other conditions than destination hold, destination is
    /// tried as well, and more deeply.
    fn objects(&mut self, classes: &mut [ClassResult]) -> Result<Objects, Error> {
        let most = objects::most(self.context);
        let is_proved = classes.iter().all(|class| class.failure.is_none());
        if most == Objects::Global || !is_proved {
            return Ok(most);
        }
        let has_objects = self.context.library.classes.iter().any(|class| class.is_of_object);
        let is_settled =
            classes.iter().all(|class| class.conditions.iter().all(|it| objects::is_of_any(*it)));
        if !has_objects || most == Objects::Any && is_settled {
            return Ok(most);
        }
        if (self.clients.is_one_object)() || most == Objects::One {
            return Ok(Objects::One);
        }
        for (class, suspect, access) in std::mem::take(&mut self.not_by_destination) {
            let before = self.pool.asked();
            let mut holds = false;
            for depth in self.depths().into_iter().chain([Depth::Older]) {
                holds = holds
                    || matches!(
                        self.ask(vec![Case::Destination { suspect, access }], depth)?,
                        Verdict::Holds { .. }
                    );
            }
            let result = &mut classes[class.0 as usize];
            result.questions += self.pool.asked() - before;
            if !holds {
                return Ok(Objects::One);
            }
        }
        for class in classes {
            if class.conditions.iter().any(|it| !objects::is_of_any(*it)) {
                class.conditions = vec![Condition::Destination];
            }
        }
        Ok(Objects::Any)
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

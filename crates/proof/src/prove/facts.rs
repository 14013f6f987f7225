//! What static analysis finds out about the classes of a library: the derived constraints (\[RoboCop24] §7, appendix D.1).
//!
//! Each is true of every SC execution of every client that keeps the contract, for a reason that is said beside it.

use std::fmt;

use super::sections::{Joined, Section};
use super::segments::{Action, Segment, Step};
use super::term::Term;
use super::wrapping;
use seqcst_c11::code::{ClassId, Integer, Library};

/// A derived constraint: something the analysis tells the solver because it holds in every SC execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Constraint {
    /// Nobody has the address of an allocated record before the call that allocated it has written it somewhere.
    FreshRecords,
    /// Locations that only the call writes that allocated the record they lie in.
    OwnField,
    /// All writes are read-modify-writes, so they form one release sequence.
    UpdatesOnly,
    /// Every write is larger than the one before it.
    Counter,
    /// Nobody writes between the read that a store builds on and the store, and every store is larger.
    ExclusiveWrite,
    /// One counter never overtakes another (plus a constant).
    Bound,
    /// Cells are written through indices that no two writes share.
    DistinctIndices,
    /// The client promises that one thread makes these calls.
    OneThread,
    /// The specification: critical sections exclude each other.
    Exclusion,
    /// Linearization points that the source declares say where critical sections begin and end.
    Point,
    /// A read that a compare-and-swap confirms later, before the call can end.
    ConfirmedRead,
    /// The call that made a write is looked at as well.
    Writers,
}

impl Constraint {
    /// Every constraint, in the order in which they are listed to users.
    pub const ALL: [Constraint; 12] = [
        Constraint::FreshRecords,
        Constraint::OwnField,
        Constraint::UpdatesOnly,
        Constraint::Counter,
        Constraint::ExclusiveWrite,
        Constraint::Bound,
        Constraint::DistinctIndices,
        Constraint::OneThread,
        Constraint::Exclusion,
        Constraint::Point,
        Constraint::ConfirmedRead,
        Constraint::Writers,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Constraint::FreshRecords => "fresh-records",
            Constraint::OwnField => "own-field",
            Constraint::UpdatesOnly => "updates-only",
            Constraint::Counter => "counter",
            Constraint::ExclusiveWrite => "exclusive-write",
            Constraint::Bound => "bound",
            Constraint::DistinctIndices => "distinct-indices",
            Constraint::OneThread => "one-thread",
            Constraint::Exclusion => "exclusion",
            Constraint::Point => "linearization-point",
            Constraint::ConfirmedRead => "confirmed-read",
            Constraint::Writers => "writers",
        }
    }

    /// The constraint with that name.
    pub fn named(name: &str) -> Option<Constraint> {
        Constraint::ALL.into_iter().find(|c| c.name() == name)
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is known about a class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassFacts {
    /// Is it declared `_Atomic`?
    pub is_atomic: bool,
    /// Only addresses of records and `NULL` are ever written.
    pub holds_addresses: bool,
    /// All its writes go to a record that the same call has allocated.
    pub is_own_field: bool,
    /// All its writes are read-modify-writes.
    pub is_updates_only: bool,
    /// Every write is larger than the one before; `Some(true)`: by exactly 1.
    pub counter: Option<bool>,
    /// It is taken for granted that this counter doesn't wrap around: none of its numbers is greater than this.
    pub ceiling: Option<i128>,
    /// Its stores act like updates, as the solver has found (see [`exclusive`](super::exclusive)).
    pub is_exclusive: bool,
    /// And each store hands on what its call has read (see [`is_handed_on`](super::exclusive::is_handed_on)).
    pub is_handed_on: bool,
    /// The group of methods, all called by one thread, that writes it.
    pub writer_thread: Option<usize>,
    /// Written in critical sections only.
    pub is_protected: bool,
    /// No two writes have the same index.
    pub has_distinct_indices: bool,
    /// Is the initial value known (not that of a `malloc`ed field)?
    pub is_initial_known: bool,
}

/// What is known about a library.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// By class.
    pub classes: Vec<ClassFacts>,
    /// Addresses of allocated records travel through variables and classes that hold addresses only, and none is ever given
    /// back: the premise of [`Constraint::FreshRecords`].
    pub are_records_fresh: bool,
    /// For each method: its group of [`Contract::one_thread`](seqcst_c11::code::Contract::one_thread).
    pub threads: Vec<Option<usize>>,
    /// The critical section of a lock, if the contract specifies one.
    pub section: Option<Section>,
    /// `lesser ≤ greater + slack` at every moment, proved beforehand.
    pub bounds: Vec<Bound>,
    /// Is [`Constraint::ConfirmedRead`] used?
    pub are_reads_confirmed: bool,
}

/// `lesser ≤ greater + slack`, for two counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The one that is bounded.
    pub lesser: ClassId,
    /// The one that it does not overtake.
    pub greater: ClassId,
    /// By how much it may be larger.
    pub slack: i128,
}

/// All steps of all segments.
fn steps(segments: &[Segment]) -> impl Iterator<Item = (&Segment, usize, &Step)> {
    segments
        .iter()
        .flat_map(|segment| segment.steps.iter().enumerate().map(move |(at, step)| (segment, at, step)))
        .filter(|(_, _, step)| !step.is_dead)
}

fn writes(segments: &[Segment], class: ClassId) -> impl Iterator<Item = (&Segment, usize, &Step)> {
    steps(segments).filter(move |(_, _, step)| step.class == Some(class) && step.writes())
}

impl Facts {
    /// Analyses a library (bounds between counters are found separately, with the solver).
    pub fn of(
        library: &Library,
        segments: &[Segment],
        joined: Option<&Joined>,
        disabled: &[Constraint],
    ) -> Facts {
        let is_on = |c: Constraint| !disabled.contains(&c);
        let threads: Vec<Option<usize>> = library
            .methods
            .iter()
            .map(|m| library.contract.one_thread.iter().position(|group| group.contains(&m.name)))
            .map(|group| group.filter(|_| is_on(Constraint::OneThread)))
            .collect();
        let addresses = address_classes(library, segments);
        let section = joined.filter(|_| is_on(Constraint::Exclusion)).map(|joined| match joined.declared {
            Some(declared) if is_on(Constraint::Point) => declared,
            _ => joined.section,
        });
        let mut facts = Facts {
            classes: vec![ClassFacts::default(); library.classes.len()],
            are_records_fresh: is_on(Constraint::FreshRecords) && are_records_fresh(segments, &addresses),
            threads,
            section,
            bounds: Vec::new(),
            are_reads_confirmed: is_on(Constraint::ConfirmedRead),
        };
        for (index, class) in library.classes.iter().enumerate() {
            let id = ClassId(index as u32);
            let all: Vec<_> = writes(segments, id).collect();
            let writer = |(segment, _, _): &(&Segment, usize, &Step)| facts.threads[segment.method];
            let writer_thread =
                all.first().and_then(writer).filter(|g| all.iter().all(|w| writer(w) == Some(*g)));
            let is_protected =
                section.is_some_and(|s| all.iter().all(|(segment, at, _)| is_inside(segment, *at, s)));
            let is_own_field = facts.are_records_fresh
                && is_on(Constraint::OwnField)
                && class.record.is_some()
                && all
                    .iter()
                    .all(|(_, _, step)| matches!(step.base, Term::Address(_)) && step.index == Term::Int(0));
            let exclusive = writer_thread.is_some() || is_protected;
            let found = ClassFacts {
                is_atomic: class.is_atomic,
                holds_addresses: addresses[index],
                is_own_field,
                is_updates_only: is_on(Constraint::UpdatesOnly)
                    && all.iter().all(|(_, _, step)| step.updates()),
                counter: is_on(Constraint::Counter)
                    .then(|| counter(&all, class.integer, exclusive, section))
                    .flatten(),
                ceiling: None,
                is_exclusive: false,
                is_handed_on: false,
                writer_thread,
                is_protected: is_protected && !all.is_empty(),
                has_distinct_indices: false,
                // Records may also come from clients, who put there what they like.
                is_initial_known: class.record.is_none()
                    || facts.are_records_fresh && is_always_zeroed(library, class.record),
            };
            facts.classes[index] = found;
        }
        if is_on(Constraint::DistinctIndices) {
            for index in 0..library.classes.len() {
                let all: Vec<_> = writes(segments, ClassId(index as u32)).collect();
                facts.classes[index].has_distinct_indices = has_distinct_indices(&all, &facts, library);
            }
        }
        facts
    }
}

impl Facts {
    /// The compare-and-swap that confirms what a step has read: on every path to the end of the call it is made, on the same
    /// location, it expects that value, and it succeeds.
    ///
    /// If a location is written by updates only and no value is written there twice, then the compare-and-swap reads the very
    /// write that the step has read. That write has no other update behind it: no two updates read the same write, under
    /// RC20 either. So in an execution that comes to an end nobody writes there in between, and the step's read isn't stale.
    /// In one that doesn't, nobody can tell what the call has read, since until then it only reads, and no plain memory.
    pub fn confirms(&self, segment: &Segment, step: usize) -> Option<usize> {
        let read = &segment.steps[step];
        let facts = &self.classes[read.class?.0 as usize];
        let is_plain_load = read.action == Action::Read { until: None };
        if !self.are_reads_confirmed || !is_plain_load || !facts.is_updates_only || facts.counter.is_none() {
            return None;
        }
        (step + 1..segment.steps.len()).find(|k| {
            let other = &segment.steps[*k];
            let is_same = other.class == read.class && other.base == read.base && other.index == read.index;
            let expects = matches!(&other.action, Action::Cas { expected, always: Some(true), .. } if *expected == Term::Read(step));
            is_same && expects && segment.post_dominated_by(read.node, other.node) && self.is_silent(segment, step, *k)
        })
    }
}

impl Facts {
    /// Between two steps, does a call do nothing that others could see, or that could race?
    fn is_silent(&self, segment: &Segment, from: usize, to: usize) -> bool {
        let is_iterated =
            segment.gaps.iter().any(|gap| gap.before.contains(&from) && gap.after.contains(&to));
        let is_quiet = |step: &Step| match step.action {
            Action::Read { .. } => step.class.is_some_and(|c| self.classes[c.0 as usize].is_atomic),
            Action::Fence | Action::Allocate { .. } => true,
            _ => false,
        };
        !is_iterated && (from + 1..to).all(|k| is_quiet(&segment.steps[k]))
    }
}

/// Does the step come after the lock is taken, on every path to it, and not after it is given back?
fn is_inside(segment: &Segment, at: usize, section: Section) -> bool {
    let find = |label| segment.steps.iter().position(|s| s.label == label && s.is_access());
    match (find(section.enter), find(section.leave)) {
        (Some(enter), Some(leave)) => {
            enter < at && at <= leave && segment.dominates(segment.steps[enter].node, segment.steps[at].node)
        }
        _ => false,
    }
}

fn is_always_zeroed(library: &Library, record: Option<seqcst_c11::code::RecordId>) -> bool {
    use seqcst_c11::code::{AccessKind, Statement};
    fn all(code: &[Statement], holds: &impl Fn(&AccessKind) -> bool) -> bool {
        code.iter().all(|s| match s {
            Statement::Access(a) => holds(&a.kind),
            Statement::If { then, otherwise, .. } => all(then, holds) && all(otherwise, holds),
            Statement::Loop { body, .. } => all(body, holds),
            _ => true,
        })
    }
    library.methods.iter().all(|m| {
        all(&m.body, &|kind| !matches!(kind, AccessKind::Allocate { record: r, is_zeroed: false, .. } if Some(*r) == record))
    })
}

/// Classes into which only addresses are written: the largest set that is closed.
fn address_classes(library: &Library, segments: &[Segment]) -> Vec<bool> {
    // A class that nobody writes, or only 0, holds no addresses worth the name, but it does no harm either.
    let mut holds = vec![true; library.classes.len()];
    loop {
        let mut changed = false;
        for (segment, _, step) in steps(segments) {
            if let (Some(class), Some(value)) = (step.class, step.written())
                && holds[class.0 as usize]
                && !is_address(value, segment, &holds)
            {
                holds[class.0 as usize] = false;
                changed = true;
            }
        }
        if !changed {
            return holds;
        }
    }
}

/// Is the value `NULL` or the address of a record, given which classes hold addresses?
fn is_address(value: &Term, segment: &Segment, holds: &[bool]) -> bool {
    match value {
        Term::Int(0) | Term::Address(_) => true,
        // Addresses of records that the setup made.
        Term::Int(n) => *n < 0,
        Term::Read(step) => segment.steps[*step].class.is_some_and(|c| holds[c.0 as usize]),
        Term::Phi(phi) => {
            segment.phis[*phi].incoming.iter().all(|(_, _, value)| is_address(value, segment, holds))
        }
        _ => false,
    }
}

fn are_records_fresh(segments: &[Segment], holds: &[bool]) -> bool {
    steps(segments).all(|(segment, _, step)| match step.action {
        Action::Free => false,
        // In an iteration the address may live on in a variable and be published by the next one.
        Action::Allocate { .. } => segment.iteration_of.is_empty(),
        _ => step.base == Term::Int(0) || is_address(&step.base, segment, holds),
    })
}

/// Does every write put a larger value there than it finds? Then by how much: `Some(true)` is by 1.
///
/// Numbers that wrap around are counters as long as they don't: see [`wrapping`].
///
/// A plain store counts if it adds to what its call has read from the same location, and nobody else can have written there
/// in between: one thread makes all these calls, or all this happens in a critical section.
fn counter(
    all: &[(&Segment, usize, &Step)],
    of: Integer,
    is_exclusive: bool,
    section: Option<Section>,
) -> Option<bool> {
    let mut is_by_one = true;
    for (segment, at, step) in all {
        let by = match &step.action {
            Action::Update { value } => match wrapping::counting(value, of).split_constant() {
                (Some(Term::Read(read)), by) if read == at => by,
                _ => return None,
            },
            Action::Cas { expected, desired, .. } => {
                let (a, before) = expected.split_constant();
                let (b, after) = wrapping::counting(desired, of).split_constant();
                if a != b {
                    return None;
                }
                after - before
            }
            Action::Write { value } if is_exclusive => match wrapping::counting(value, of).split_constant() {
                (Some(Term::Read(read)), by) => {
                    let source = &segment.steps[*read];
                    let is_same =
                        source.class == step.class && source.base == step.base && source.index == step.index;
                    let is_covered = section.is_none_or(|s| is_inside(segment, *read, s));
                    let is_clean = step.class.is_some_and(|class| segment.is_untouched(class, *read, *at));
                    if !is_same || !is_clean || !is_covered || source.updates() {
                        return None;
                    }
                    by
                }
                _ => return None,
            },
            _ => return None,
        };
        if by <= 0 {
            return None;
        }
        is_by_one &= by == 1;
    }
    (!all.is_empty()).then_some(is_by_one)
}

/// Is every write to a cell whose index the call has drawn from a counter, by an update that gives no number twice?
fn has_distinct_indices(all: &[(&Segment, usize, &Step)], facts: &Facts, library: &Library) -> bool {
    let mut drawn_from = None;
    !all.is_empty()
        && all.iter().all(|(segment, at, step)| {
            let Term::Read(read) = step.index else {
                return false;
            };
            let ticket = &segment.steps[read];
            let Some(class) = ticket.class else {
                return false;
            };
            let is_drawn = match &ticket.action {
                Action::Update { .. } => true,
                Action::Cas { is_blocking, .. } => *is_blocking,
                _ => false,
            };
            let is_one_counter = *drawn_from.get_or_insert(class) == class;
            let is_once = segment.steps.iter().filter(|s| s.class == step.class && s.writes()).count() == 1;
            let is_scalar = library.classes[class.0 as usize].record.is_none()
                && library.classes[class.0 as usize].cells.is_none();
            is_drawn
                && is_one_counter
                && is_once
                && is_scalar
                && read < *at
                && library.classes[step.class.map_or(0, |c| c.0 as usize)].record.is_none()
                && facts.classes[class.0 as usize].counter.is_some()
        })
}

//! What the definitions say about an SC run, on its execution graph and nothing else.
//!
//! The graph is a plain graph of `seqcst_model`. An SC fence is an acquire fence, an acquire-release RMW of a hidden
//! location, and a release fence. A release outside of atomics (creation, the end of a thread, an object) is a
//! release write to a location of its own, an acquire is an acquire read of every one that it synchronises with: so
//! these edges are in `hb` and `hbSC`, and there are no others.

use crate::trace::{Happened, Happening, LOCATIONS, OBJECTS};
use seqcst_model::{Action, Event, Graph, Loc, Mode, Model, Op, Outcome, Set, Value};

/// Graphs have at most 64 times so many events.
const WORDS: usize = 4;
pub type History = Graph<WORDS>;
type Events = Set<WORDS>;

/// The location behind SC fences.
const HIDDEN: Loc = Loc(LOCATIONS as u8);

/// The first of the locations behind plain accesses, where these have locations of their own.
const PLAIN: u8 = 200;

/// An SC run so far.
pub struct Past {
    pub graph: History,
    model: Model,
    /// To the partial SC order, what is plain is elsewhere: it has locations of its own.
    plain_is_elsewhere: bool,
    /// For every event the write it reads from, or comes right after.
    placements: Vec<Option<usize>>,
    /// The releases that an acquire synchronises with.
    objects: [Vec<usize>; OBJECTS],
    /// For every thread its last event, a release, if it has ended.
    ends: Vec<Option<usize>>,
    /// The next location that nobody has used.
    fresh: Loc,
}

impl Past {
    pub fn new(model: Model) -> Past {
        let mut graph = Graph::default();
        for loc in 0..=HIDDEN.0 {
            graph.push(Event::initial(Loc(loc), 0), None);
        }
        let placements = vec![None; graph.len()];
        let plain_is_elsewhere = model == Model::Rc11;
        Past {
            graph,
            model,
            plain_is_elsewhere,
            placements,
            objects: Default::default(),
            ends: vec![None],
            fresh: Loc(HIDDEN.0 + 1),
        }
    }

    /// Adds what happened; gives the number of the event of an access.
    pub fn add(&mut self, happening: &Happening) -> Option<usize> {
        let thread = happening.thread;
        match happening.what {
            Happened::Tried(_) => {}
            Happened::Did(ref action, outcome) => {
                let last = last_write(&self.graph, action.loc);
                return Some(self.push(thread, action, outcome, last));
            }
            Happened::Touched { loc, write } => {
                let (op, outcome) = match write {
                    true => (Op::Store(0), Outcome::Wrote(0)),
                    false => (Op::Load, Outcome::Read(0)),
                };
                let loc = if self.plain_is_elsewhere { Loc(PLAIN + loc.0) } else { loc };
                return Some(self.push(thread, &action(op, loc, Mode::NonAtomic), outcome, None));
            }
            Happened::Fenced(Mode::SeqCst) if self.model != Model::Rc11 => {
                let update = action(Op::FetchAdd { operand: 0, modulus: 1 }, HIDDEN, Mode::AcqRel);
                self.fence(thread, Mode::Acquire);
                self.push(thread, &update, Outcome::Updated(0, 0), last_write(&self.graph, HIDDEN));
                self.fence(thread, Mode::Release);
            }
            Happened::Fenced(mode) => self.fence(thread, mode),
            Happened::Created => {
                let create = self.release(thread);
                self.acquire(self.ends.len(), create);
                self.ends.push(None);
            }
            Happened::Met => self.ends.push(None),
            Happened::Ended => self.ends[thread] = Some(self.release(thread)),
            Happened::Joined(other) => self.acquire(thread, self.ends[other].expect("it has ended")),
            Happened::Acquired(object) => {
                for release in self.objects[object].clone() {
                    self.acquire(thread, release);
                }
                // It looks at the object, whether or not somebody has released it.
                if self.plain_is_elsewhere {
                    let look = action(Op::Load, Loc(PLAIN + LOCATIONS as u8), Mode::NonAtomic);
                    self.push(thread, &look, Outcome::Read(0), None);
                }
            }
            Happened::Released(object) => {
                let release = self.release(thread);
                self.objects[object].push(release);
            }
        }
        None
    }

    fn push(&mut self, thread: usize, action: &Action, outcome: Outcome, placement: Option<usize>) -> usize {
        let index = self.graph.thread_events(thread).len();
        let event = Event::of(thread, index, action, outcome);
        self.placements.push(placement);
        self.graph.push(event, placement).expect("traces are short enough")
    }

    fn fence(&mut self, thread: usize, mode: Mode) {
        self.push(thread, &action(Op::Fence, Loc(0), mode), Outcome::Fenced, None);
    }

    fn release(&mut self, thread: usize) -> usize {
        let loc = self.fresh;
        self.fresh = Loc(loc.0.checked_add(1).expect("traces are short enough"));
        self.push(thread, &action(Op::Store(0), loc, Mode::Release), Outcome::Wrote(0), None)
    }

    fn acquire(&mut self, thread: usize, from: usize) {
        let loc = self.graph.events[from].loc.expect("a release has a location");
        self.push(thread, &action(Op::Load, loc, Mode::Acquire), Outcome::Read(0), Some(from));
    }

    /// The run that leads to the same access of the thread with as little as possible before it (the proof of \[RSAN25]
    /// Thm. 3.1): of all events, those that are `hbSC`-before some event of the thread.
    fn prefix(&self, thread: usize) -> History {
        let mine = self.graph.thread_events(thread);
        let initial = self.graph.set(|event| event.thread.is_none());
        let kept = self.graph.hb_sc().maybe().to(mine).domain() | initial;
        let mut prefix = Graph::default();
        let mut numbers = vec![None; self.graph.len()];
        for event in kept.iter() {
            let Event { loc, mode, .. } = self.graph.events[event];
            let placement = self.placements[event].and_then(|write| numbers[write]);
            assert_eq!(placement.is_some(), self.placements[event].is_some(), "what it reads is there");
            if mode != Mode::NonAtomic {
                assert_eq!(placement, loc.and_then(|loc| last_write(&prefix, loc)), "it is an SC run");
            }
            numbers[event] = prefix.push(self.graph.events[event], placement);
        }
        prefix
    }
}

fn action(op: Op, loc: Loc, mode: Mode) -> Action {
    Action { op, loc, mode, failure: None, site: 0 }
}

/// The atomic writes to a location. Plain ones take no part in `rf` and `mo`: where there are no races, the threads that
/// they order are ordered anyway, and where there are, nothing else counts (\[RSAN25] §4.2).
fn writes(graph: &History, loc: Loc) -> Events {
    graph.set(|event| event.loc == Some(loc) && event.is_write() && event.mode != Mode::NonAtomic)
}

fn last_write(graph: &History, loc: Loc) -> Option<usize> {
    writes(graph, loc).iter().find(|&write| graph.mo.after(write).is_empty())
}

/// For every attempted access of the run, whether it is an extended witness.
pub fn witnesses(run: &[Happening]) -> Vec<bool> {
    each_attempt(run, Model::Rc20, witness)
}

/// For every attempted access of the run, what extended witnesses are there for: whether it can be added to a prefix of
/// the run such that the model allows the graph and SC doesn't. Slow.
pub fn escapes(run: &[Happening], model: Model) -> Vec<bool> {
    each_attempt(run, model, |graph, thread, action| escape(graph, model, thread, action))
}

fn each_attempt(
    run: &[Happening],
    model: Model,
    ask: impl Fn(&History, usize, &Action) -> bool,
) -> Vec<bool> {
    let mut past = Past::new(model);
    let mut answers = Vec::new();
    for happening in run {
        if let Happened::Tried(action) = &happening.what {
            answers.push(ask(&past.prefix(happening.thread), happening.thread, action));
        }
        past.add(happening);
    }
    answers
}

/// `docs/theory.md`, "Non-robustness witness", on a graph in which everything is `hbSC`-before the thread: some write w,
/// older than the last, is still open to it, `w ∉ dom(mo ; rf? ; hb? ; [E_τ])`, and fits.
fn witness(graph: &History, thread: usize, action: &Action) -> bool {
    let Some(last) = last_write(graph, action.loc) else { return false };
    let older = writes(graph, action.loc) - Events::one(last);
    if older.is_empty() {
        return false;
    }
    let hb = Model::Rc20.happens_before(graph);
    let reach = graph.mo.seq(&graph.rf.maybe()).seq(&hb.maybe());
    let open = older - reach.to(graph.thread_events(thread)).domain();
    let rmws = graph.rmws();
    open.iter().any(|write| {
        let value = graph.events[write].outcome.value_written();
        let free = (graph.rf.after(write) & rmws).is_empty();
        let is = |expected: Value| value == Some(expected);
        match action.op {
            // A weak compare-and-swap may fail for no reason: a load of anything.
            Op::Load | Op::WeakCas { .. } => true,
            Op::Wait(ref values) => values.iter().any(|&v| is(v)),
            Op::Store(_) | Op::FetchAdd { .. } | Op::Exchange(_) => free,
            Op::Cas { expected, .. } => !is(expected) || free,
            Op::BlockingCas { expected, .. } => is(expected) && free,
            Op::Fence => false,
        }
    })
}

/// Whether the access has an outcome and a place that the model allows here and SC doesn't.
fn escape(graph: &History, model: Model, thread: usize, action: &Action) -> bool {
    writes(graph, action.loc).iter().any(|write| {
        let value = graph.events[write].outcome.value_written().unwrap_or_default();
        action.outcomes(value).any(|outcome| {
            let mut graph = graph.clone();
            graph.add(thread, action, outcome, Some(write)).expect("traces are short enough");
            model.allows(&graph) && !Model::Sc.allows(&graph)
        })
    })
}

/// For every access of the run, plain or not, whether it races with an earlier one: both to the same location, by
/// different threads, at least one a write, at least one plain, and not ordered by `hb`.
pub fn races(run: &[Happening], model: Model) -> Vec<bool> {
    let mut past = Past { plain_is_elsewhere: false, ..Past::new(model) };
    let accesses: Vec<usize> = run.iter().filter_map(|happening| past.add(happening)).collect();
    let hb = model.happens_before(&past.graph);
    let events = &past.graph.events;
    let races = |a: usize, b: usize| {
        let both = [&events[a], &events[b]];
        events[a].loc == events[b].loc
            && events[a].thread != events[b].thread
            && both.iter().any(|event| event.is_write())
            && both.iter().any(|event| event.mode == Mode::NonAtomic)
            && !hb.contains(a, b)
    };
    // Runs are graphs in the order of time, and nothing leads back in time.
    accesses.iter().map(|&b| accesses.iter().take_while(|&&a| a < b).any(|&a| races(a, b))).collect()
}

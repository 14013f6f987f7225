//! What the definitions say about an SC run on x86, on its execution graph and nothing else.
//!
//! Read-modify-writes are locked, also where they fail; an SC store has a fence behind it, an SC fence is one, other
//! modes and fences are nothing. A release outside of atomics (creation, the end of a thread, an object) is a store to a
//! location of its own with fences around, an acquire is a load of every one that it synchronises with, with fences
//! around: so they are full fences, and these edges are in `hbSC` and in `ghb`.

use crate::trace::{Happened, Happening, LOCATIONS, OBJECTS};
use seqcst_model::{Action, Event, Graph, Loc, Mode, Model, Op, Outcome, Relation, Set};

/// Graphs have at most 64 times so many events.
const WORDS: usize = 4;
type History = Graph<WORDS>;

/// An SC run so far.
struct Past {
    graph: History,
    /// The releases that an acquire synchronises with.
    objects: [Vec<usize>; OBJECTS],
    /// For every thread its last release, if it has ended.
    ends: Vec<Option<usize>>,
    /// The next location that nobody has used.
    fresh: Loc,
}

impl Past {
    fn new() -> Past {
        let mut graph = Graph::default();
        for loc in 0..LOCATIONS as u8 {
            graph.push(Event::initial(Loc(loc), 0), None);
        }
        Past { graph, objects: Default::default(), ends: vec![None], fresh: Loc(LOCATIONS as u8) }
    }

    fn add(&mut self, happening: &Happening) {
        let thread = happening.thread;
        match happening.what {
            // Plain accesses take no part: where there are no races, what they order is ordered anyway.
            Happened::Tried(_) | Happened::Touched { .. } => {}
            Happened::Did(ref access, outcome) => {
                self.push(thread, &lowered(access), outcome, None);
                if is_sc_store(access) {
                    self.fence(thread);
                }
            }
            Happened::Fenced(Mode::SeqCst) => self.fence(thread),
            Happened::Fenced(_) => {}
            Happened::Created => {
                let create = self.release(thread);
                self.acquire(self.ends.len(), &[create]);
                self.ends.push(None);
            }
            Happened::Met => self.ends.push(None),
            Happened::Ended => self.ends[thread] = Some(self.release(thread)),
            Happened::Joined(other) => self.acquire(thread, &[self.ends[other].expect("it has ended")]),
            Happened::Acquired(object) => self.acquire(thread, &self.objects[object].clone()),
            Happened::Released(object) => {
                let release = self.release(thread);
                self.objects[object].push(release);
            }
        }
    }

    fn push(&mut self, thread: usize, access: &Action, outcome: Outcome, from: Option<usize>) -> usize {
        self.graph.add(thread, access, outcome, from).expect("traces are short enough")
    }

    fn fence(&mut self, thread: usize) {
        self.push(thread, &action(Op::Fence, Loc(0), Mode::SeqCst), Outcome::Fenced, None);
    }

    fn release(&mut self, thread: usize) -> usize {
        let loc = self.fresh;
        self.fresh = Loc(loc.0.checked_add(1).expect("traces are short enough"));
        self.fence(thread);
        let release = self.push(thread, &action(Op::Store(0), loc, Mode::Relaxed), Outcome::Wrote(0), None);
        self.fence(thread);
        release
    }

    fn acquire(&mut self, thread: usize, from: &[usize]) {
        self.fence(thread);
        for &release in from {
            let loc = self.graph.events[release].loc.expect("a release has a location");
            let load = action(Op::Load, loc, Mode::Relaxed);
            self.push(thread, &load, Outcome::Read(0), Some(release));
        }
        self.fence(thread);
    }
}

fn action(op: Op, loc: Loc, mode: Mode) -> Action {
    Action { op, loc, mode, failure: None, site: 0 }
}

/// It comes with a fence.
pub fn is_sc_store(access: &Action) -> bool {
    matches!(access.op, Op::Store(_)) && access.mode == Mode::SeqCst
}

/// The access with the mode by which the axioms know whether it is locked.
pub fn lowered(access: &Action) -> Action {
    let locked = access.may_write() && !matches!(access.op, Op::Store(_));
    let mode = if locked { Mode::SeqCst } else { Mode::Relaxed };
    Action { mode, failure: locked.then_some(mode), ..access.clone() }
}

/// For every attempted access of the run: is it a plain load that TSO allows to read something that SC doesn't? This is a
/// borderline trace (\[Sober08], Def. 6), decided by the axioms of both models.
pub fn escapes(run: &[Happening]) -> Vec<bool> {
    each_load(run, |graph, thread, load| {
        stale_writes(graph, load).any(|write| {
            let value = graph.events[write].outcome.value_written().unwrap_or_default();
            load.outcomes(value).any(|outcome| {
                let mut graph = graph.clone();
                graph.add(thread, load, outcome, Some(write)).expect("traces are short enough");
                Model::Tso.allows(&graph) && !Model::Sc.allows(&graph)
            })
        })
    })
}

/// As `docs/theory.md`, "TSO", puts it: the write that is read has a successor w which is `hbSC`-before the thread, while
/// neither w nor a later write is the thread's own, or `ghb`-before an event of it that orders later loads.
pub fn witnesses(run: &[Happening]) -> Vec<bool> {
    each_load(run, |graph, thread, load| {
        let stale: Vec<usize> = stale_writes(graph, load).collect();
        if stale.is_empty() {
            return false;
        }
        let mine = graph.thread_events(thread);
        let before = graph.hb_sc().maybe().to(mine).domain();
        let known = ghb(graph).plus().maybe().to(ordering_loads(graph, mine)).domain() | mine;
        stale.into_iter().any(|old| {
            let value = graph.events[old].outcome.value_written().unwrap_or_default();
            let newer = graph.mo.after(old);
            let next = newer.iter().find(|&write| (graph.mo.before(write) & newer).is_empty());
            load.outcomes(value).next().is_some()
                && next.is_some_and(|next| before.contains(next))
                && (newer & known).is_empty()
        })
    })
}

fn each_load(run: &[Happening], ask: impl Fn(&History, usize, &Action) -> bool) -> Vec<bool> {
    let mut past = Past::new();
    let mut answers = Vec::new();
    for happening in run {
        if let Happened::Tried(access) = &happening.what {
            answers.push(!access.may_write() && ask(&past.graph, happening.thread, &lowered(access)));
        }
        past.add(happening);
    }
    answers
}

/// All writes of the location but the last.
fn stale_writes(graph: &History, load: &Action) -> impl Iterator<Item = usize> {
    let writes = graph.set(|event| event.loc == Some(load.loc) && event.is_write());
    writes.iter().filter(|&write| !graph.mo.after(write).is_empty())
}

/// The events of a thread that its later loads can't overtake: all but plain stores with no fence or RMW after them.
fn ordering_loads(graph: &History, mine: Set<WORDS>) -> Set<WORDS> {
    let locked = graph.with_mode(Mode::SeqCst);
    let drained = graph.po.to(locked & mine).domain();
    mine & (graph.reads() | locked | drained)
}

/// `ghb = ppo ∪ implied ∪ rfe ∪ fr ∪ co` (`docs/theory.md`, "Memory models"; \[Fency21] §II).
fn ghb(graph: &History) -> Relation<WORDS> {
    let locked = graph.with_mode(Mode::SeqCst);
    let (stores, loads) = (graph.writes() - locked, graph.reads() - locked);
    let overtaken = |&(a, b): &(usize, usize)| stores.contains(a) && loads.contains(b);
    let ordered = Relation::from_pairs(graph.len(), graph.po.pairs().filter(|pair| !overtaken(pair)));
    ordered | graph.rfe() | graph.fr() | &graph.mo
}

//! The monitors for RC11, fed with a run.

use super::definition::Covers;
use super::is_sc;
use crate::monitors::{Answers, look};
use crate::trace::{Happened, Happening, LOCATIONS, MODULUS, OBJECTS};
use seqcst_model::{Action, Loc, Mode, Model, Op, Outcome, Value};
use seqcst_monitor::clocks::run::{Attempt, Location, Message, Thread};
use seqcst_monitor::clocks::{Hidden, Look, Rc11LocationClocks, Rule, Slot, Stale, Time};
use seqcst_monitor::finite::{Monitor, Rc20, Summary, Usage, Use};

/// The order of an access that reads only, the order otherwise; for a weak compare-and-swap, which may fail for no reason, the
/// former is what counts.
fn modes(action: &Action) -> (Mode, Mode) {
    let failure = action.mode_of(Outcome::Read(0));
    match action.op {
        Op::WeakCas { .. } => (failure, failure),
        _ => (action.mode, failure),
    }
}

/// Weak compare-and-swaps ask a second question: can they succeed where they should not?
fn second(action: &Action) -> Option<Look> {
    match action.op {
        Op::WeakCas { expected, .. } => Some(Look::BlockingCas(u64::from(expected))),
        _ => None,
    }
}

/// Both answers as one.
fn older(one: Option<Stale>, other: Option<Stale>) -> Option<Stale> {
    one.into_iter().chain(other).min_by_key(|stale| stale.known)
}

/// For every attempted access, what location clocks say.
pub fn location_clocks(run: &[Happening]) -> Vec<Option<Stale>> {
    let mut answers = Vec::new();
    follow(run, Rc11LocationClocks::new(&[0; LOCATIONS], OBJECTS), |clocks, happening| {
        if let Happened::Tried(action) = &happening.what {
            let (thread, x, (mode, failure)) = (happening.thread, action.loc.index(), modes(action));
            let stale = clocks.stale(thread, x, look(action), mode, failure);
            let also = second(action).and_then(|look| clocks.stale(thread, x, look, action.mode, failure));
            answers.push(older(stale, also));
        }
    });
    answers
}

/// For every SC event, what location clocks say that it comes after.
pub fn covers(run: &[Happening], without: Option<Rule>) -> Covers {
    let clocks = Rc11LocationClocks::new(&[0; LOCATIONS], OBJECTS);
    let clocks = without.into_iter().fold(clocks, Rc11LocationClocks::without);
    let mut answers = Vec::new();
    // A clock looks at what is there after the event.
    let mut asked = None;
    let mut ask = |clocks: &Rc11LocationClocks, asked: Option<usize>| {
        if let Some(thread) = asked {
            let cover = clocks.last_sc(thread);
            let numbers = |clock: &[usize]| std::array::from_fn(|x| clock[x]);
            answers.push((numbers(&cover.written.0), numbers(&cover.seen.0)));
        }
    };
    let clocks = follow(run, clocks, |clocks, happening| {
        ask(clocks, asked.take());
        asked = is_sc(happening).then_some(happening.thread);
    });
    ask(&clocks, asked.take());
    answers
}

/// Tells location clocks of a run, after `ask`.
fn follow(
    run: &[Happening],
    mut clocks: Rc11LocationClocks,
    mut ask: impl FnMut(&Rc11LocationClocks, &Happening),
) -> Rc11LocationClocks {
    for happening in run {
        ask(&clocks, happening);
        let thread = happening.thread;
        match happening.what {
            Happened::Tried(_) => {}
            Happened::Did(ref action, outcome) => {
                let (loc, mode) = (action.loc.index(), action.mode_of(outcome));
                match (outcome.value_read(), outcome.value_written().map(u64::from)) {
                    (_, None) => clocks.load(thread, loc, mode),
                    (None, Some(value)) => clocks.store(thread, loc, mode, value),
                    (Some(_), Some(value)) => clocks.rmw(thread, loc, mode, value),
                }
            }
            Happened::Fenced(mode) => clocks.fence(thread, mode),
            Happened::Touched { .. } => clocks.plain(thread),
            Happened::Created => clocks.create(thread),
            Happened::Met => clocks.appear(),
            Happened::Ended => {}
            Happened::Joined(other) => clocks.join(thread, other),
            Happened::Acquired(object) => clocks.acquire(thread, object),
            Happened::Released(object) => clocks.release(thread, object),
        }
    }
    clocks
}

/// What thread clocks are told.
#[derive(Clone, Copy, Debug)]
pub enum Told {
    Everything,
    /// No plain accesses; and so many moments are remembered.
    Atomics {
        history: usize,
    },
}

/// What thread clocks say about a run.
pub fn thread_clocks(run: &[Happening], told: Told) -> Answers {
    let location = |number| match told {
        Told::Everything => Location::exact(0, number),
        Told::Atomics { history } => Location::new(0, history),
    };
    let mut places: Vec<Location> = (0..LOCATIONS as u32).map(location).collect();
    let mut threads = vec![Thread::first(0, Model::Rc11)];
    let mut objects: [Message; OBJECTS] = Default::default();
    let mut plain: Vec<(usize, bool, Slot, Time)> = Vec::new();
    let mut answers = Answers::default();
    for &Happening { thread, ref what, .. } in run {
        match *what {
            Happened::Tried(ref action) => {
                let (mode, failure) = modes(action);
                let rmw = action.may_write();
                let place = &places[action.loc.index()];
                let ask =
                    |look, mode| threads[thread].check(place, Attempt { look, mode, failure, rmw }, |_| 0);
                let also = second(action).and_then(|look| ask(look, action.mode));
                answers.stale.push(older(ask(look(action), mode), also));
            }
            Happened::Did(ref action, outcome) => {
                let mode = action.mode_of(outcome);
                let (actor, place) = (&mut threads[thread], &mut places[action.loc.index()]);
                match (outcome.value_read(), outcome.value_written().map(u64::from)) {
                    (_, None) => actor.load(place, mode, 0),
                    (None, Some(value)) => actor.store(place, mode, value, 0),
                    (Some(_), Some(value)) => actor.rmw(place, mode, value, 0),
                };
                let writes = outcome.value_written().is_some();
                let open = |&(x, write, slot, time): &(usize, bool, Slot, Time)| {
                    x == action.loc.index() && (write || writes) && time > threads[thread].cur().get(slot)
                };
                answers.races.push(plain.iter().any(open));
            }
            Happened::Touched { loc, write } => {
                if matches!(told, Told::Everything) {
                    threads[thread].plain();
                }
                let actor = &threads[thread];
                let x = loc.index();
                let open = |slot: Slot, time: Time| time > actor.cur().get(slot);
                let with_plain = plain
                    .iter()
                    .any(|&(y, wrote, slot, time)| x == y && (wrote || write) && open(slot, time));
                let with_atomic = places[x]
                    .accesses()
                    .any(|(slot, last, wrote)| open(slot, if write { last.time } else { wrote.time }));
                answers.races.push(with_plain || with_atomic);
                plain.push((x, write, actor.slot(), actor.epoch()));
            }
            Happened::Fenced(mode) => threads[thread].fence(mode, &mut Hidden::new()),
            Happened::Created => {
                let mut child = Thread::default();
                let slot = threads.len() as Slot;
                threads[thread].renew_child(&mut child, slot);
                threads.push(child);
            }
            Happened::Met => threads.push(Thread::first(threads.len() as Slot, Model::Rc11)),
            Happened::Ended => {}
            Happened::Joined(other) => {
                let ended = threads[other].clone();
                threads[thread].join(&ended);
            }
            Happened::Acquired(object) => threads[thread].acquire(&objects[object]),
            Happened::Released(object) => threads[thread].release(&mut objects[object]),
        }
    }
    answers
}

/// For every attempted access of a run without creations and the like, what the finite-state monitor says: whether it may miss the
/// *last* write.
pub fn finite(run: &[Happening]) -> Vec<bool> {
    let monitor = Rc20::new(&anything(run), false, None);
    let mut state = vec![0; monitor.shape().words()];
    monitor.start(&mut state);
    let mut answers = Vec::new();
    for &Happening { thread, ref what, .. } in run {
        match *what {
            Happened::Tried(ref action) => answers.push(monitor.stale(&state, thread, action)),
            Happened::Did(ref action, outcome) => {
                monitor.step(&mut state, thread, action, outcome);
                if let Some(value) = outcome.value_written() {
                    state[monitor.shape().location(action.loc)] = u64::from(value);
                }
            }
            Happened::Fenced(mode) => monitor.fence(&mut state, thread, mode),
            _ => {}
        }
        monitor.normalise(&mut state, 0);
    }
    assert!(!monitor.overflowed(), "there are few values");
    answers
}

/// A program in which every thread can do everything.
fn anything(run: &[Happening]) -> Summary {
    let threads = 1 + run.iter().filter(|happening| matches!(happening.what, Happened::Met)).count();
    let values = || (0..MODULUS).map(Some);
    let mut kinds = vec![Use::Load, Use::Wait(values().collect()), Use::Store, Use::Update];
    kinds
        .extend(values().flat_map(|value: Option<Value>| {
            [Use::Cas(value), Use::WeakCas(value), Use::BlockingCas(value)]
        }));
    let orders =
        [(Mode::SeqCst, Mode::SeqCst), (Mode::Relaxed, Mode::SeqCst), (Mode::Relaxed, Mode::Relaxed)];
    let mut uses = Vec::new();
    for thread in 0..threads {
        for loc in (0..LOCATIONS as u8).map(Loc) {
            for (mode, read_mode) in orders {
                uses.extend(kinds.iter().map(|what| Usage {
                    thread,
                    loc,
                    what: what.clone(),
                    mode,
                    read_mode,
                }));
            }
        }
    }
    let fences = (0..threads).map(|thread| (thread, Mode::SeqCst)).collect();
    Summary { threads, locations: LOCATIONS, modulus: MODULUS, uses, fences }
}

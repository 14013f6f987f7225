//! The finite-state monitor for RC20, and for RA as its special case (\[Rocker19] §5 extended by the views of \[RSAN25]
//! §4.2; the rules are in `docs/theory.md`, "Finite-state monitors").
//!
//! Every thread has the views `cur`, `rel`, `acq`; every location has the view `W(x)` of its last message. What the
//! program cannot make use of is left out: `acq` of a thread without acquire fences or relaxed reads, `rel` of a thread
//! without release fences (it knows nothing that anybody could learn: all bits set) or relaxed writes. So nothing but
//! `cur` and `W` is left for RA, where every access is release/acquire.
//!
//! RC11 is the same with what [`Psc`] keeps of SC accesses and SC fences: a view becomes a *bundle*, whose first view is
//! that of RC20.
//!
//! Races on non-atomic locations (\[Rocker19] §6 with RC20's `hb`): a view has for each such location one bit "does not
//! know the last write" and for every thread one bit "does not know its last read since that write".

use super::hb_sc::{HbSc, Users, bits};
use super::psc::{self, Psc};
use super::stale::{Bits, Tracked};
use super::{Monitor, Shape, Summary, Use};
use seqcst_model::{Action, Loc, Mode, Op, Outcome, Value};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Offset of `cur` in a thread's block; `rel`, `acq` and what `psc` keeps follow.
const CUR: usize = 2;
/// Offset of the message in a location's block; `prev` and what `psc` keeps follow.
const MESSAGE: usize = 3;

/// The monitor.
pub struct Rc20 {
    summary: Summary,
    shape: Shape,
    hb_sc: HbSc,
    /// What is kept of each watched atomic location.
    tracked: Vec<Option<Tracked>>,
    /// Bits for each watched non-atomic location: its last write, then a read for every thread.
    plain: Vec<Option<Bits>>,
    /// Words in a view.
    view: usize,
    psc: Psc,
    /// Words in what travels by happens-before: as many as in a view, but for SC.
    bundle: usize,
    /// Where bundles are in a state,
    bundles: Vec<usize>,
    /// and all other views that know of atomic locations.
    sc_views: Vec<usize>,
    /// All bits of a bundle that are in use.
    used: Vec<u64>,
    /// All bits of a view that are about atomic locations.
    used_atomic: Vec<u64>,
    /// For every thread, the bits of a view that it never asks for.
    unasked: Vec<Vec<u64>>,
    /// Threads that need `rel`, `acq`.
    has_rel: u64,
    has_acq: u64,
    races: bool,
    focus: Option<Loc>,
    capacity: usize,
    overflow: AtomicBool,
}

impl Rc20 {
    /// A monitor for a program lowered for RA, RC20 or RC11. `races` asks for races by happens-before. With a `focus`, only
    /// accesses to that location are checked.
    pub fn new(summary: &Summary, races: bool, focus: Option<Loc>) -> Rc20 {
        Rc20::with_capacity(summary, races, focus, 7)
    }

    fn with_capacity(summary: &Summary, races: bool, focus: Option<Loc>, capacity: usize) -> Rc20 {
        let in_focus = |x: Loc| focus.is_none_or(|focus| focus == x);
        let locations = || (0..summary.locations as u8).map(Loc);
        let atomic = |x: Loc| summary.of(x).all(|usage| usage.mode != Mode::NonAtomic);
        let mut start = 0;
        let mut tracked = Vec::new();
        let mut plain = Vec::new();
        for x in locations() {
            let watched = summary.is_shared(x);
            let known = (watched && atomic(x)).then(|| match in_focus(x) {
                true => Tracked::new(summary, x, start, capacity, false),
                false => Tracked::nothing(start),
            });
            start += known.as_ref().map_or(0, |t| t.all.len);
            tracked.push(known);
            let bits = (watched && !atomic(x) && races && in_focus(x))
                .then_some(Bits { start, len: 1 + summary.threads });
            start += bits.map_or(0, |b| b.len);
            plain.push(bits);
        }
        let view = start.div_ceil(64);
        let mut used: Vec<u64> = (0..view).map(|w| u64::MAX >> (64 - (start - w * 64).min(64))).collect();
        let mut used_atomic = used.clone();
        plain.iter().flatten().for_each(|bits| bits.clear(&mut used_atomic));
        let psc = Psc::new(summary, view);
        psc.views_of_bundle().for_each(|_| used.extend_from_slice(&used_atomic));

        let threads_with = |test: &dyn Fn(usize) -> bool| {
            (0..summary.threads).filter(|&t| test(t)).fold(0u64, |set, t| set | 1 << t)
        };
        let fences =
            |t: usize, what: fn(Mode) -> bool| summary.fences.iter().any(|&(u, m)| u == t && what(m));
        let relaxed = |t: usize, write: bool| {
            summary.uses.iter().any(|usage| {
                let reads = usage.what != Use::Store;
                usage.thread == t
                    && if write {
                        usage.what.writes() && !usage.mode.is_release()
                    } else {
                        reads
                            && (!usage.read_mode.is_acquire()
                                || usage.what.updates() && !usage.mode.is_acquire())
                    }
            })
        };
        let has_rel = threads_with(&|t| fences(t, Mode::is_release) && relaxed(t, true));
        let has_acq = threads_with(&|t| fences(t, Mode::is_acquire) && relaxed(t, false));

        let mut shape = Shape::bare(summary.threads, summary.locations);
        let widths = |masks: &[u64]| masks.iter().map(|mask| mask.count_ones() as u8).collect::<Vec<u8>>();
        let (bundle_widths, sc_widths) = (widths(&used), widths(&used_atomic));
        let watched =
            locations().filter(|x| tracked[x.index()].is_some()).fold(0, |set, x| set | 1u64 << x.0);
        let checked = bits(watched)
            .filter(|&x| tracked[x].as_ref().is_some_and(|t| t.all.len > 0))
            .fold(0, |set, x| set | 1u64 << x);
        let users: Vec<Users> = locations().map(|x| Users::of(summary, x)).collect();
        // For every bit of a view, who ever asks for it.
        let mut asks = vec![0; start];
        for x in locations() {
            let bits = tracked[x.index()].as_ref().map(|t| t.all).or(plain[x.index()]).unwrap_or_default();
            asks[bits.start..bits.start + bits.len].fill(users[x.index()].all());
        }
        let unasked = (0..summary.threads)
            .map(|thread| {
                let mut mask = vec![0; view];
                for bit in (0..start).filter(|&bit| asks[bit] >> thread & 1 == 0) {
                    mask[bit / 64] |= 1 << (bit % 64);
                }
                mask
            })
            .collect();
        let location_bits = (64 - checked.leading_zeros()) as u8;
        shape.thread_widths.push(location_bits);
        for needed in [true, has_rel != 0, has_acq != 0] {
            shape.thread_widths.extend(bundle_widths.iter().map(|&w| if needed { w } else { 0 }));
        }
        shape.thread_widths.extend(psc.thread_widths(summary.locations, &sc_widths));
        for x in locations() {
            let widths = &mut shape.location_widths[x.index()];
            let known = tracked[x.index()].as_ref();
            let bits = if known.is_some() { location_bits } else { 0 };
            widths.extend([bits, bits]);
            widths.extend(bundle_widths.iter().map(|&w| if known.is_some() { w } else { 0 }));
            let value_bits = 32 - (summary.modulus - 1).leading_zeros() as u8;
            widths.push(if known.is_some_and(|t| t.needs_prev) { value_bits } else { 0 });
            widths.extend(psc.place_widths(&sc_widths).iter().map(|&w| if known.is_some() { w } else { 0 }));
        }
        let mut monitor = Rc20 {
            summary: summary.clone(),
            shape,
            hb_sc: HbSc::new(watched, checked, users, summary.threads),
            tracked,
            plain,
            view,
            bundle: psc.bundle,
            psc,
            bundles: Vec::new(),
            sc_views: Vec::new(),
            used,
            used_atomic,
            unasked,
            has_rel,
            has_acq,
            races,
            focus,
            capacity,
            overflow: AtomicBool::new(false),
        };
        monitor.bundles = monitor.find_bundles();
        monitor.sc_views = monitor.find_sc_views();
        monitor
    }

    fn cur(&self, thread: usize) -> usize {
        self.shape.thread(thread) + CUR
    }

    fn rel(&self, thread: usize) -> usize {
        self.cur(thread) + self.bundle
    }

    fn acq(&self, thread: usize) -> usize {
        self.cur(thread) + 2 * self.bundle
    }

    /// Where `psc` finds what the thread knows.
    fn at(&self, thread: usize) -> psc::At {
        let cur = self.cur(thread);
        psc::At { thread, cur, acq: self.kept_acq(thread), own: cur + 3 * self.bundle }
    }

    /// `acq`, if the thread has one.
    fn kept_acq(&self, thread: usize) -> Option<usize> {
        (self.has_acq >> thread & 1 == 1).then(|| self.acq(thread))
    }

    fn message(&self, x: Loc) -> usize {
        self.shape.location(x) + MESSAGE
    }

    fn prev(&self, x: Loc) -> usize {
        self.message(x) + self.bundle
    }

    /// What `psc` keeps of a location.
    fn place(&self, x: Loc) -> usize {
        self.prev(x) + 1
    }

    fn get<'a>(&self, state: &'a [u64], at: usize) -> &'a [u64] {
        &state[at..at + self.view]
    }

    fn get_mut<'a>(&self, state: &'a mut [u64], at: usize) -> &'a mut [u64] {
        &mut state[at..at + self.view]
    }

    /// `to := to ⊓ from`
    fn join(&self, state: &mut [u64], to: usize, from: usize) {
        for word in 0..self.bundle {
            state[to + word] &= state[from + word];
        }
    }

    fn copy(&self, state: &mut [u64], to: usize, from: usize) {
        state.copy_within(from..from + self.bundle, to);
    }

    /// The bundles that hold knowledge: every thread's, every message's.
    fn find_bundles(&self) -> Vec<usize> {
        let mut bundles = Vec::new();
        for t in 0..self.shape.threads {
            bundles.push(self.cur(t));
            bundles.extend((self.has_rel >> t & 1 == 1).then(|| self.rel(t)));
            bundles.extend(self.kept_acq(t));
        }
        bundles.extend(bits(self.hb_sc.watched).map(|x| self.message(Loc(x as u8))));
        bundles
    }

    /// The views in them beyond the first, and those besides.
    fn find_sc_views(&self) -> Vec<usize> {
        let mut views = Vec::new();
        for &bundle in &self.bundles {
            views.extend(self.psc.views_of_bundle().map(|view| bundle + view));
        }
        for t in 0..self.shape.threads {
            views.extend(self.psc.views_of_thread().map(|view| self.at(t).own + view));
        }
        for x in bits(self.hb_sc.watched) {
            views.extend(self.psc.views_of_place().map(|view| self.place(Loc(x as u8)) + view));
        }
        views
    }

    /// A load, a wait, a failed compare-and-swap.
    fn read(&self, state: &mut [u64], thread: usize, x: Loc, tracked: &Tracked, mode: Mode) {
        self.hb_sc.read(&self.shape, state, thread, x);
        self.psc.before(state, self.at(thread), x, mode == Mode::SeqCst);
        self.receive(state, thread, x, mode);
        tracked.all.clear(self.get_mut(state, self.cur(thread)));
        self.after(state, thread, x, tracked, mode, false);
    }

    /// Takes over what the last message to `x` knows: now if acquiring, at the next acquire fence if not.
    fn receive(&self, state: &mut [u64], thread: usize, x: Loc, mode: Mode) {
        if let Some(acq) = self.kept_acq(thread) {
            self.join(state, acq, self.message(x));
        }
        if mode.is_acquire() {
            self.join(state, self.cur(thread), self.message(x));
        }
    }

    fn after(&self, state: &mut [u64], thread: usize, x: Loc, tracked: &Tracked, mode: Mode, writes: bool) {
        let access = psc::Access { loc: x, place: self.place(x), is_sc: mode == Mode::SeqCst, writes };
        self.psc.after(state, self.at(thread), access, |view| tracked.all.clear(view));
    }

    /// A store or a successful read-modify-write.
    fn write(&self, state: &mut [u64], thread: usize, x: Loc, tracked: &Tracked, mode: Mode, update: bool) {
        let old = state[self.shape.location(x)] as Value;
        let prev = state[self.prev(x)] as Value;
        // 1. The old last write becomes stale for all who don't see the new one.
        for &at in self.bundles.iter().chain(&self.sc_views) {
            tracked.add(self.get_mut(state, at), old, prev, update, &self.overflow);
        }
        if tracked.needs_prev {
            let at = self.prev(x);
            state[at] = u64::from(old);
        }
        // 2. hbSC.
        self.hb_sc.write(&self.shape, state, thread, x);
        // 3. An update reads the message it replaces.
        self.psc.before(state, self.at(thread), x, mode == Mode::SeqCst);
        if update {
            self.receive(state, thread, x, mode);
        }
        // 4. The writer knows its own write.
        tracked.all.clear(self.get_mut(state, self.cur(thread)));
        if let Some(acq) = self.kept_acq(thread) {
            tracked.all.clear(self.get_mut(state, acq));
        }
        self.after(state, thread, x, tracked, mode, true);
        // 5. The new message: a release publishes `cur`, a relaxed write `rel`, an update adds to what it read.
        let message = self.message(x);
        if !update {
            state[message..message + self.bundle].copy_from_slice(&self.used);
        }
        if mode.is_release() {
            self.join(state, message, self.cur(thread));
        } else if self.has_rel >> thread & 1 == 1 {
            self.join(state, message, self.rel(thread));
        }
        tracked.all.clear(self.get_mut(state, message));
    }

    /// Asks about the stale writes that an access of this mode can still read.
    fn ask(&self, state: &[u64], thread: usize, x: Loc, mode: Mode, test: impl Fn(&[u64]) -> bool) -> bool {
        const FEW: usize = 8;
        let cur = self.get(state, self.cur(thread));
        if self.bundle == self.view && self.sc_views.is_empty() {
            return test(cur);
        }
        let (mut few, mut many) = ([0; FEW], Vec::new());
        let view = match few.get_mut(..self.view) {
            Some(few) => few,
            None => {
                many.resize(self.view, 0);
                &mut many[..]
            }
        };
        view.copy_from_slice(cur);
        self.psc.narrow(state, self.at(thread), x, mode, view);
        test(view)
    }
}

impl Monitor for Rc20 {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn start(&self, state: &mut [u64]) {
        self.hb_sc.start(&self.shape, state);
    }

    fn stale(&self, state: &[u64], thread: usize, action: &Action) -> bool {
        let x = action.loc;
        let Some(tracked) = self.tracked[x.index()].as_ref() else { return false };
        if action.op == Op::Fence || !self.hb_sc.knows(&self.shape, state, thread, x) {
            return false;
        }
        let prev = state[self.prev(x)] as Value;
        let ask = |mode: Mode, test: &dyn Fn(&[u64]) -> bool| self.ask(state, thread, x, mode, test);
        let failure = action.mode_of(Outcome::Read(0));
        match &action.op {
            Op::Load => ask(action.mode, &|view| tracked.any(view)),
            Op::Wait(values) => ask(action.mode, &|view| values.iter().any(|&v| tracked.readable(view, v))),
            Op::Store(_) | Op::FetchAdd { .. } | Op::Exchange(_) => {
                ask(action.mode, &|view| tracked.overwritable(view))
            }
            Op::Cas { expected, .. } => {
                ask(action.mode, &|view| tracked.updatable(view, *expected))
                    || ask(failure, &|view| tracked.readable_other_than(view, *expected, prev))
            }
            Op::WeakCas { expected, .. } => {
                // What can be replaced can be read, but failing may be SC where succeeding is not.
                let replaces = failure == Mode::SeqCst && action.mode != Mode::SeqCst;
                ask(failure, &|view| tracked.any(view))
                    || replaces && ask(action.mode, &|view| tracked.updatable(view, *expected))
            }
            Op::BlockingCas { expected, .. } => ask(action.mode, &|view| tracked.updatable(view, *expected)),
            Op::Fence => false,
        }
    }

    fn races(&self, state: &[u64], thread: usize, action: &Action) -> bool {
        let Some(bits) = self.plain[action.loc.index()] else { return false };
        let cur = self.get(state, self.cur(thread));
        match action.op {
            Op::Fence => false,
            Op::Load => bits.get(cur, 0),
            _ => bits.any(cur),
        }
    }

    fn step(&self, state: &mut [u64], thread: usize, action: &Action, outcome: Outcome) {
        let x = action.loc;
        let mode = action.mode_of(outcome);
        if let Some(tracked) = &self.tracked[x.index()] {
            match outcome {
                Outcome::Read(_) => self.read(state, thread, x, tracked, mode),
                Outcome::Wrote(_) => self.write(state, thread, x, tracked, mode, false),
                Outcome::Updated(..) => self.write(state, thread, x, tracked, mode, true),
                Outcome::Fenced => self.fence(state, thread, mode),
            }
            return;
        }
        if outcome == Outcome::Fenced {
            return self.fence(state, thread, mode);
        }
        self.psc.elsewhere(state, self.at(thread), x, mode == Mode::SeqCst);
        if let Some(bits) = self.plain[x.index()] {
            let write = matches!(outcome, Outcome::Wrote(_));
            for &at in &self.bundles {
                let view = self.get_mut(state, at);
                if write {
                    bits.clear(view);
                }
                bits.set(view, if write { 0 } else { 1 + thread });
            }
            for own in [Some(self.cur(thread)), self.kept_acq(thread)] {
                let Some(at) = own else { continue };
                bits.put(self.get_mut(state, at), if write { 0 } else { 1 + thread }, false);
            }
        }
    }

    fn fence(&self, state: &mut [u64], thread: usize, mode: Mode) {
        self.psc.fence_begins(state, self.at(thread));
        if let Some(acq) = self.kept_acq(thread).filter(|_| mode.is_acquire()) {
            self.copy(state, self.cur(thread), acq);
        }
        self.psc.fence(state, self.at(thread), mode == Mode::SeqCst);
        if mode.is_release() && self.has_rel >> thread & 1 == 1 {
            self.copy(state, self.rel(thread), self.cur(thread));
        }
    }

    /// Sets bits where a guard against a stale write has no effect until there is a new stale write of that value,
    /// which sets them anyway:
    /// * everywhere, if none of the threads that access the location can read it any more, by happens-before alone;
    /// * in the message of `x`, which flows to the readers of `x`, if they all know as much.
    fn normalise(&self, state: &mut [u64], finished: u64) {
        self.hb_sc.normalise(&self.shape, state, finished);
        let running = |t: &usize| finished >> t & 1 == 0;
        for word in 0..self.view {
            let asked = (0..self.shape.threads)
                .filter(running)
                .fold(0, |open, t| open | state[self.cur(t) + word] & !self.unasked[t][word]);
            let closed = self.used[word] & !asked;
            for x in bits(self.hb_sc.watched) {
                state[self.message(Loc(x as u8)) + word] |= closed;
            }
            for t in (0..self.shape.threads).filter(running) {
                state[self.cur(t) + word] |= closed & self.unasked[t][word];
                if self.has_rel >> t & 1 == 1 {
                    state[self.rel(t) + word] |= closed;
                }
                if let Some(acq) = self.kept_acq(t) {
                    state[acq + word] |= closed & self.unasked[t][word];
                }
            }
            let closed = closed & self.used_atomic[word];
            for &view in self.sc_views.iter().filter(|_| closed != 0) {
                state[view + word] |= closed;
            }
        }
        for x in bits(self.hb_sc.watched) {
            let readers = self.hb_sc.users[x].readers & !finished;
            for word in 0..self.bundle {
                let open = bits(readers).fold(0, |open, t| open | state[self.cur(t) + word]);
                state[self.message(Loc(x as u8)) + word] |= self.used[word] & !open;
            }
        }
        for thread in 0..self.shape.threads {
            if running(&thread) {
                self.psc.normalise(state, self.at(thread), &self.used_atomic);
            } else {
                let (from, to) = (self.cur(thread), self.shape.thread(thread + 1));
                state[from..to].fill(0);
            }
        }
        for (index, tracked) in self.tracked.iter().enumerate() {
            let Some(tracked) = tracked.as_ref().filter(|t| t.needs_prev) else { continue };
            let mut views = self.bundles.iter().chain(&self.sc_views);
            if !views.any(|&at| tracked.is_single(self.get(state, at))) {
                let at = self.prev(Loc(index as u8));
                state[at] = 0;
            }
        }
    }

    fn swap(&self, state: &mut [u64], a: usize, b: usize) {
        for word in 0..self.shape.thread_widths.len() {
            state.swap(self.shape.thread(a) + word, self.shape.thread(b) + word);
        }
        for bits in self.plain.iter().flatten() {
            for &at in &self.bundles {
                let view = self.get_mut(state, at);
                let (read_a, read_b) = (bits.get(view, 1 + a), bits.get(view, 1 + b));
                bits.put(view, 1 + a, read_b);
                bits.put(view, 1 + b, read_a);
            }
        }
    }

    fn overflowed(&self) -> bool {
        self.overflow.load(Relaxed)
    }

    fn grown(&self) -> Box<dyn Monitor> {
        Box::new(Rc20::with_capacity(&self.summary, self.races, self.focus, self.capacity * 2 + 1))
    }

    fn checked(&self) -> Vec<Loc> {
        let plain = (0..self.plain.len()).filter(|&x| self.plain[x].is_some());
        bits(self.hb_sc.checked).chain(plain).map(|x| Loc(x as u8)).collect()
    }
}

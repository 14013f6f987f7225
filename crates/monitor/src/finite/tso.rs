//! The finite-state monitor for x86-TSO (`docs/theory.md`, "Finite-state monitors"; \[Sober08] Fig. 3, corrected: D9).
//!
//! Knowledge of the last write to a location, in `ghb`: `ld(p)`, what later loads of p must follow; `st(p)`, what later
//! stores of p must follow; `GM(x)`, `GW(x)`, the same for the accesses to `x` and for its last write. Each is a view
//! of stale values (see [`super::stale`]), so that a `wait` is exact; the boolean "`x` is in the set" of
//! `docs/theory.md` is "the view has no stale value of `x`". `own(p)` knows the writes of p alone: a load never
//! passes its own thread's stores to the same location.
//!
//! Only a plain load can be stale. Locked instructions (every read-modify-write and every failed compare-and-swap)
//! carry [`Mode::SeqCst`].

use super::hb_sc::{HbSc, Users, bits};
use super::stale::Tracked;
use super::{Monitor, Shape, Summary};
use seqcst_model::{Action, Loc, Mode, Op, Outcome, Value};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Offset of `ld` in a thread's block; `st` and `own` follow.
const LD: usize = 2;
/// Offset of the thread of the last write (from 1; 0: none) in a location's block.
const OWNER: usize = 3;
/// Offset of `GM` in a location's block; `GW` follows.
const GM: usize = 4;

/// The monitor.
pub struct Tso {
    summary: Summary,
    shape: Shape,
    hb_sc: HbSc,
    tracked: Vec<Option<Tracked>>,
    /// Words in a view.
    view: usize,
    /// All bits of a view that are in use.
    used: Vec<u64>,
    focus: Option<Loc>,
    capacity: usize,
    overflow: AtomicBool,
}

impl Tso {
    /// A monitor for a program lowered for TSO. With a `focus`, only accesses to that location are checked.
    pub fn new(summary: &Summary, focus: Option<Loc>) -> Tso {
        Tso::with_capacity(summary, focus, 7)
    }

    fn with_capacity(summary: &Summary, focus: Option<Loc>, capacity: usize) -> Tso {
        let mut start = 0;
        let mut tracked = Vec::new();
        for x in (0..summary.locations as u8).map(Loc) {
            // A location that is never loaded plainly still carries order: its last write must be known or not.
            let known = summary.is_shared(x).then(|| match focus.is_none_or(|focus| focus == x) {
                true => Tracked::new(summary, x, start, capacity, true),
                false => Tracked::nothing(start),
            });
            start += known.as_ref().map_or(0, |t| t.all.len);
            tracked.push(known);
        }
        let view = start.div_ceil(64);
        let used: Vec<u64> = (0..view).map(|w| u64::MAX >> (64 - (start - w * 64).min(64))).collect();
        let watched =
            (0..summary.locations).filter(|&x| tracked[x].is_some()).fold(0, |set, x| set | 1u64 << x);
        let checked = bits(watched)
            .filter(|&x| tracked[x].as_ref().is_some_and(|t| t.all.len > 0))
            .fold(0, |set, x| set | 1u64 << x);
        let users = (0..summary.locations as u8).map(|x| Users::of(summary, Loc(x))).collect();
        let location_bits = (64 - checked.leading_zeros()) as u8;
        let view_widths: Vec<u8> = used.iter().map(|mask| mask.count_ones() as u8).collect();
        let mut shape = Shape::bare(summary.threads, summary.locations);
        shape.thread_widths.push(location_bits);
        for _ in ["ld", "st", "own"] {
            shape.thread_widths.extend(&view_widths);
        }
        for (widths, tracked) in shape.location_widths.iter_mut().zip(&tracked) {
            let keep = |w: u8| if tracked.is_some() { w } else { 0 };
            let owner_bits = (64 - (summary.threads as u64).leading_zeros()) as u8;
            widths.extend([keep(location_bits), keep(location_bits), keep(owner_bits)]);
            for _ in ["GM", "GW"] {
                widths.extend(view_widths.iter().map(|&w| keep(w)));
            }
        }
        Tso {
            summary: summary.clone(),
            shape,
            hb_sc: HbSc::new(watched, checked, users, summary.threads),
            tracked,
            view,
            used,
            focus,
            capacity,
            overflow: AtomicBool::new(false),
        }
    }

    fn ld(&self, thread: usize) -> usize {
        self.shape.thread(thread) + LD
    }

    fn st(&self, thread: usize) -> usize {
        self.ld(thread) + self.view
    }

    fn own(&self, thread: usize) -> usize {
        self.ld(thread) + 2 * self.view
    }

    fn gm(&self, x: Loc) -> usize {
        self.shape.location(x) + GM
    }

    fn gw(&self, x: Loc) -> usize {
        self.gm(x) + self.view
    }

    /// `to := to ⊓ from`
    fn join(&self, state: &mut [u64], to: usize, from: usize) {
        for word in 0..self.view {
            state[to + word] &= state[from + word];
        }
    }

    fn copy(&self, state: &mut [u64], to: usize, from: usize) {
        state.copy_within(from..from + self.view, to);
    }

    fn messages(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.shape.locations as u8)
            .map(Loc)
            .filter(|x| self.tracked[x.index()].is_some())
            .flat_map(|x| [self.gm(x), self.gw(x)])
    }

    fn views(&self) -> impl Iterator<Item = usize> + '_ {
        let threads = (0..self.shape.threads).flat_map(|t| [self.ld(t), self.st(t), self.own(t)]);
        threads.chain(self.messages())
    }

    fn owner(&self, x: Loc) -> usize {
        self.shape.location(x) + OWNER
    }

    fn read(&self, state: &mut [u64], p: usize, x: Loc, locked: bool) {
        self.hb_sc.read(&self.shape, state, p, x);
        if locked {
            self.fence(state, p, Mode::SeqCst);
        }
        // A load that takes its value from its own store is not ordered after it.
        if locked || state[self.owner(x)] != p as u64 + 1 {
            self.join(state, self.ld(p), self.gw(x));
        }
        self.join(state, self.gm(x), self.ld(p));
        if locked {
            self.fence(state, p, Mode::SeqCst);
        }
    }

    fn write(&self, state: &mut [u64], p: usize, x: Loc, tracked: &Tracked, update: bool) {
        let old = state[self.shape.location(x)] as Value;
        for at in self.views() {
            tracked.add(&mut state[at..at + self.view], old, 0, update, &self.overflow);
        }
        self.hb_sc.write(&self.shape, state, p, x);
        let ts = self.st(p);
        self.join(state, ts, self.ld(p));
        self.join(state, ts, self.gm(x));
        tracked.all.clear(&mut state[ts..ts + self.view]);
        self.copy(state, self.gm(x), ts);
        self.copy(state, self.gw(x), ts);
        let at = self.owner(x);
        state[at] = p as u64 + 1;
        let own = self.own(p);
        tracked.all.clear(&mut state[own..own + self.view]);
        if update {
            self.copy(state, self.ld(p), ts);
        }
    }
}

impl Monitor for Tso {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn start(&self, state: &mut [u64]) {
        self.hb_sc.start(&self.shape, state);
    }

    fn stale(&self, state: &[u64], p: usize, action: &Action) -> bool {
        let Some(tracked) = self.tracked[action.loc.index()].as_ref() else { return false };
        if action.mode == Mode::SeqCst || !self.hb_sc.knows(&self.shape, state, p, action.loc) {
            return false;
        }
        let (ld, own) = (self.ld(p), self.own(p));
        // What p may still read: neither known to its loads nor older than its own last store.
        let open = |test: &dyn Fn(&[u64]) -> bool| {
            test(&state[ld..ld + self.view]) && test(&state[own..own + self.view])
        };
        match &action.op {
            Op::Load => open(&|view| tracked.any(view)),
            Op::Wait(values) => values.iter().any(|&v| open(&|view| tracked.readable(view, v))),
            _ => false,
        }
    }

    fn step(&self, state: &mut [u64], p: usize, action: &Action, outcome: Outcome) {
        let x = action.loc;
        let Some(tracked) = &self.tracked[x.index()] else {
            // Nobody else looks at the location, but a locked instruction still drains the store buffer.
            if action.mode == Mode::SeqCst {
                self.fence(state, p, Mode::SeqCst);
            }
            return;
        };
        match outcome {
            Outcome::Read(_) => self.read(state, p, x, action.mode == Mode::SeqCst),
            Outcome::Wrote(_) => self.write(state, p, x, tracked, false),
            Outcome::Updated(..) => self.write(state, p, x, tracked, true),
            Outcome::Fenced => self.fence(state, p, action.mode),
        }
    }

    fn fence(&self, state: &mut [u64], p: usize, mode: Mode) {
        if mode == Mode::SeqCst {
            self.join(state, self.ld(p), self.st(p));
            self.copy(state, self.st(p), self.ld(p));
        }
    }

    /// A stale write that no running thread's loads can read needs no guard anywhere else, as in
    /// [`super::Rc20`]: `st`, `GM` and `GW` only ever narrow `ld`.
    fn normalise(&self, state: &mut [u64], finished: u64) {
        self.hb_sc.normalise(&self.shape, state, finished);
        let running = |t: &usize| finished >> t & 1 == 0;
        for thread in (0..self.shape.threads).filter(|t| !running(t)) {
            let start = self.ld(thread);
            state[start..start + 3 * self.view].fill(0);
        }
        for word in 0..self.view {
            let open =
                (0..self.shape.threads).filter(running).fold(0, |open, t| open | state[self.ld(t) + word]);
            let closed = self.used[word] & !open;
            for at in self.messages() {
                state[at + word] |= closed;
            }
            for t in (0..self.shape.threads).filter(running) {
                state[self.st(t) + word] |= closed;
            }
        }
        // Whether a load takes over `GW(x)` or not makes no difference where that knows nothing.
        for x in bits(self.hb_sc.watched).map(|x| Loc(x as u8)) {
            let (at, gw) = (self.owner(x), self.gw(x));
            let owner = state[at];
            if state[gw..gw + self.view] == self.used || owner > 0 && finished >> (owner - 1) & 1 == 1 {
                state[at] = 0;
            }
        }
    }

    fn swap(&self, state: &mut [u64], a: usize, b: usize) {
        for word in 0..self.shape.thread_widths.len() {
            state.swap(self.shape.thread(a) + word, self.shape.thread(b) + word);
        }
        for x in bits(self.hb_sc.watched).map(|x| Loc(x as u8)) {
            let owner = &mut state[self.owner(x)];
            if *owner == a as u64 + 1 {
                *owner = b as u64 + 1;
            } else if *owner == b as u64 + 1 {
                *owner = a as u64 + 1;
            }
        }
    }

    fn overflowed(&self) -> bool {
        self.overflow.load(Relaxed)
    }

    fn grown(&self) -> Box<dyn Monitor> {
        Box::new(Tso::with_capacity(&self.summary, self.focus, self.capacity * 2 + 1))
    }

    fn checked(&self) -> Vec<Loc> {
        bits(self.hb_sc.checked).map(|x| Loc(x as u8)).collect()
    }
}

//! What the finite-state monitor keeps of the partial SC order of RC11 (\[Lahav17]; `docs/theory.md`, "SC accesses"). The
//! plain form, with the same names and a clock in place of each set, is
//! [`Rc11LocationClocks`](crate::clocks::Rc11LocationClocks).
//!
//! A *cover* stands for a downward closed set of SC events: which stale writes an access after them can still read. It is
//! one view or two: `written` is what SC accesses ask for, `seen` what lies behind SC fences. A thread's knowledge by
//! happens-before is a *bundle*: the view of RC20, and the covers that travel with it. What a program can't need is left
//! out: `written` and all about runs without SC accesses, `seen` and all about fences without SC fences, `here` of
//! locations without SC reads or without weaker writes. So a program with neither has bundles of one view, as under RC20.

use super::{Summary, Use};
use seqcst_model::{Loc, Mode};

/// Offsets, in words: inside of a bundle, and of what threads and locations have besides.
#[derive(Clone, Debug)]
pub struct Psc {
    /// Words in a view.
    view: usize,
    /// The program has SC accesses;
    accesses: bool,
    /// it has SC fences.
    fences: bool,
    /// Threads with SC accesses, with SC events.
    sc_accesses_by: u64,
    sc_events_by: u64,
    /// In a bundle: writes made, for fences.
    written: usize,
    /// SC fences that happen before; what an SC fence here comes after.
    fences_before: usize,
    at_fence: usize,
    /// SC events followed, elsewhere in their thread, by something that happens before.
    elsewhere: usize,
    /// For each location that needs it: SC accesses that happen before, and SC fences before any accesses that do.
    here: Vec<Option<usize>>,
    /// Words in a bundle.
    pub bundle: usize,
}

/// What a thread has besides its bundles: the location of its last accesses plus one (0: none), then covers: its last SC
/// event, and that as it was before the run of accesses to this location, and `elsewhere` as it was before.
const RUN: usize = 0;
const LAST: usize = 1;
/// Covers of a thread, of a location.
const THREAD_COVERS: usize = 3;
const PLACE_COVERS: usize = 4;
/// What a location has besides its message: whether the last write is weaker than SC, then covers: all SC accesses and SC
/// fences before any accesses; the fences alone, now and at the last write; the last SC write.
const WEAK: usize = 0;
const COVERS: usize = 1;

/// Where what an access or fence deals with is in a state.
#[derive(Clone, Copy)]
pub struct At {
    /// The thread.
    pub thread: usize,
    /// Its bundle `cur`, and `acq` if it has one.
    pub cur: usize,
    pub acq: Option<usize>,
    /// What it has besides.
    pub own: usize,
}

/// An access to a location, as far as SC is concerned.
#[derive(Clone, Copy)]
pub struct Access {
    pub loc: Loc,
    /// Where what the location has besides its message is in a state.
    pub place: usize,
    pub is_sc: bool,
    pub writes: bool,
}

impl Psc {
    pub fn new(summary: &Summary, view: usize) -> Psc {
        let is_sc = |mode: Mode| mode == Mode::SeqCst;
        let sc_uses =
            || summary.uses.iter().filter(|u| is_sc(u.mode) || is_sc(u.read_mode) && u.what.reads());
        let sc_fences = || summary.fences.iter().filter(|(_, mode)| is_sc(*mode));
        let sc_accesses_by = sc_uses().fold(0, |set, usage| set | 1 << usage.thread);
        let sc_fences_by = sc_fences().fold(0, |set, (thread, _)| set | 1 << thread);
        let (accesses, fences) = (sc_accesses_by != 0, sc_fences_by != 0);
        let cover = view * (usize::from(accesses) + usize::from(fences));
        let mut bundle = view;
        let mut add = |needed: bool, words: usize| {
            let at = bundle;
            bundle += if needed { words } else { 0 };
            at
        };
        let written = add(fences && accesses, view);
        let (fences_before, at_fence) = (add(fences, cover), add(fences, cover));
        let elsewhere = add(accesses, cover);
        let mixed = |x: Loc| {
            let uses = || summary.of(x);
            let sc_reads = uses().any(|u| u.what.only_reads_sc(u.mode, u.read_mode));
            sc_reads && uses().any(|u| u.what.writes() && !is_sc(u.mode)) && summary.is_shared(x)
        };
        let here = (0..summary.locations as u8)
            .map(|x| (accesses && mixed(Loc(x))).then(|| add(true, cover)))
            .collect();
        Psc {
            view,
            accesses,
            fences,
            sc_accesses_by,
            sc_events_by: sc_accesses_by | sc_fences_by,
            written,
            fences_before,
            at_fence,
            elsewhere,
            here,
            bundle,
        }
    }

    /// Nothing is SC: bundles are views.
    fn is_empty(&self) -> bool {
        !self.accesses && !self.fences
    }

    /// Words in a cover.
    fn cover(&self) -> usize {
        self.view * (usize::from(self.accesses) + usize::from(self.fences))
    }

    /// How wide what a thread has besides its bundles is, word by word; `cover` is how wide a view is.
    pub fn thread_widths(&self, locations: usize, view: &[u8]) -> Vec<u8> {
        let run = if self.accesses { usize::BITS - locations.leading_zeros() } else { 0 } as u8;
        self.widths(run, THREAD_COVERS, view)
    }

    /// The same for a location.
    pub fn place_widths(&self, view: &[u8]) -> Vec<u8> {
        self.widths(u8::from(self.accesses), PLACE_COVERS, view)
    }

    fn widths(&self, first: u8, covers: usize, view: &[u8]) -> Vec<u8> {
        if self.is_empty() {
            return Vec::new();
        }
        let views = covers * (usize::from(self.accesses) + usize::from(self.fences));
        std::iter::once(first).chain((0..views).flat_map(|_| view.iter().copied())).collect()
    }

    /// All views of a bundle but the first, all views that a thread has besides, that a location has besides.
    pub fn views_of_bundle(&self) -> impl Iterator<Item = usize> + '_ {
        (1..self.bundle / self.view.max(1)).map(|number| number * self.view)
    }

    pub fn views_of_thread(&self) -> impl Iterator<Item = usize> + '_ {
        self.besides(LAST, THREAD_COVERS)
    }

    pub fn views_of_place(&self) -> impl Iterator<Item = usize> + '_ {
        self.besides(COVERS, PLACE_COVERS)
    }

    fn besides(&self, from: usize, covers: usize) -> impl Iterator<Item = usize> + '_ {
        let views = covers * (usize::from(self.accesses) + usize::from(self.fences));
        (0..views).map(move |number| from + number * self.view)
    }

    fn last(&self, at: At) -> usize {
        at.own + LAST
    }

    fn last_before_run(&self, at: At) -> usize {
        self.last(at) + self.cover()
    }

    fn elsewhere_before_run(&self, at: At) -> usize {
        self.last(at) + 2 * self.cover()
    }

    /// SC accesses to the location, and SC fences before any. Without SC accesses, that's the next.
    fn all_accesses(&self, access: Access) -> usize {
        if self.accesses { access.place + COVERS } else { self.all_fences(access) }
    }

    fn all_fences(&self, access: Access) -> usize {
        access.place + COVERS + self.cover()
    }

    fn fences_at_write(&self, access: Access) -> usize {
        access.place + COVERS + 2 * self.cover()
    }

    fn last_sc_write(&self, access: Access) -> usize {
        access.place + COVERS + 3 * self.cover()
    }

    /// `to := to ⊓ from`, covers.
    fn join(&self, state: &mut [u64], to: usize, from: usize) {
        for word in 0..self.cover() {
            state[to + word] &= state[from + word];
        }
    }

    fn join_view(&self, state: &mut [u64], to: usize, from: usize) {
        for word in 0..self.view {
            state[to + word] &= state[from + word];
        }
    }

    fn copy(&self, state: &mut [u64], to: usize, from: usize) {
        state.copy_within(from..from + self.cover(), to);
    }

    /// Whether the thread has SC events at all: if not, it comes after no SC event of its own.
    fn has_sc_events(&self, thread: usize) -> bool {
        self.sc_events_by >> thread & 1 == 1
    }

    fn has_sc_accesses(&self, thread: usize) -> bool {
        self.sc_accesses_by >> thread & 1 == 1
    }

    /// Narrows `view`, which is `cur` of a thread about to execute an access of this mode to `x`, to what the access could
    /// still read.
    pub fn narrow(&self, state: &[u64], at: At, x: Loc, mode: Mode, view: &mut [u64]) {
        let mut narrow = |from: usize| {
            view.iter_mut().zip(&state[from..]).for_each(|(word, more)| *word &= more);
        };
        if self.fences {
            let seen = if self.accesses { self.view } else { 0 };
            narrow(at.cur + self.fences_before + seen);
        }
        if mode == Mode::SeqCst {
            narrow(self.last(at));
            let in_run = state[at.own + RUN] == u64::from(x.0) + 1;
            narrow(if in_run { self.elsewhere_before_run(at) } else { at.cur + self.elsewhere });
        }
    }

    /// The next event is an access to `x`.
    fn turn_to(&self, state: &mut [u64], at: At, x: Loc) {
        let x = u64::from(x.0) + 1;
        if self.accesses && self.has_sc_events(at.thread) && state[at.own + RUN] != x {
            self.copy(state, self.last_before_run(at), self.last(at));
            if self.has_sc_accesses(at.thread) {
                self.copy(state, self.elsewhere_before_run(at), at.cur + self.elsewhere);
            }
            state[at.own + RUN] = x;
        }
    }

    /// What comes after this event, and not at its location, comes after the SC events before the run.
    fn turned(&self, state: &mut [u64], at: At) {
        if self.accesses && self.has_sc_events(at.thread) {
            for known in [Some(at.cur), at.acq].into_iter().flatten() {
                self.join(state, known + self.elsewhere, self.last_before_run(at));
            }
        }
    }

    /// Before an access synchronises: the SC events before it, by program order and happens-before.
    pub fn before(&self, state: &mut [u64], at: At, x: Loc, is_sc: bool) {
        if self.is_empty() {
            return;
        }
        self.turn_to(state, at, x);
        if is_sc {
            self.join(state, self.last(at), self.elsewhere_before_run(at));
            if self.fences {
                self.join(state, self.last(at), at.cur + self.fences_before);
            }
        }
    }

    /// An access to what only one thread writes or nobody reads, or a plain one.
    pub fn elsewhere(&self, state: &mut [u64], at: At, x: Loc, is_sc: bool) {
        self.before(state, at, x, is_sc);
        if !self.is_empty() {
            self.turned(state, at);
        }
    }

    /// After it has synchronised: the SC events before it by its location, and what it leaves there. `clear` forgets stale
    /// writes of its location.
    pub fn after(&self, state: &mut [u64], at: At, access: Access, clear: impl Fn(&mut [u64])) {
        if self.is_empty() {
            return;
        }
        let Access { loc, place, is_sc, writes } = access;
        let known = || [Some(at.cur), at.acq].into_iter().flatten();
        let last = self.last(at);
        if is_sc && writes {
            self.join(state, last, self.all_accesses(access));
            for number in 0..self.cover() / self.view.max(1) {
                let from = last + number * self.view;
                clear(&mut state[from..from + self.view]);
            }
        } else if is_sc {
            match self.here[loc.index()].filter(|_| state[place + WEAK] == 1) {
                Some(here) => self.join(state, last, at.cur + here),
                None => self.join(state, last, self.last_sc_write(access)),
            }
        }
        if self.fences {
            let from = if writes { self.all_accesses(access) } else { self.fences_at_write(access) };
            for known in known() {
                if writes && self.accesses {
                    clear(&mut state[known + self.written..known + self.written + self.view]);
                }
                self.join(state, known + self.at_fence, from);
            }
            self.join(state, self.all_fences(access), at.cur + self.fences_before);
            self.join(state, self.all_accesses(access), at.cur + self.fences_before);
        }
        if is_sc {
            self.join(state, self.all_accesses(access), last);
        }
        if writes {
            if self.fences {
                self.copy(state, self.fences_at_write(access), self.all_fences(access));
            }
            if self.here[loc.index()].is_some() {
                state[place + WEAK] = u64::from(!is_sc);
            }
            if is_sc {
                self.copy(state, self.last_sc_write(access), last);
            }
        }
        if let Some(here) = self.here[loc.index()] {
            for known in known() {
                if self.fences {
                    self.join(state, known + here, at.cur + self.fences_before);
                }
                if is_sc {
                    self.join(state, known + here, last);
                }
            }
        }
        self.turned(state, at);
    }

    /// A fence begins: what comes after it is elsewhere.
    pub fn fence_begins(&self, state: &mut [u64], at: At) {
        if self.accesses && self.has_sc_events(at.thread) {
            state[at.own + RUN] = 0;
            self.copy(state, self.last_before_run(at), self.last(at));
        }
    }

    /// The fence has acquired.
    pub fn fence(&self, state: &mut [u64], at: At, is_sc: bool) {
        if self.is_empty() {
            return;
        }
        self.turned(state, at);
        if !is_sc {
            return;
        }
        let last = self.last(at);
        self.copy(state, last, at.cur + self.at_fence);
        if self.accesses {
            self.join_view(state, last, at.cur + self.written);
            self.join_view(state, last + self.view, at.cur);
        } else {
            self.join_view(state, last, at.cur);
        }
        for known in [Some(at.cur), at.acq].into_iter().flatten() {
            self.join(state, known + self.fences_before, last);
            self.join(state, known + self.at_fence, last);
        }
    }

    /// Brings what no future access can tell apart into one form: a run that makes no difference, what was before a run
    /// that there is none of, and what only SC events would ask for in threads that have none. `used` has all bits of a
    /// view.
    pub fn normalise(&self, state: &mut [u64], at: At, used: &[u64]) {
        if self.is_empty() {
            return;
        }
        let (last, before) = (self.last(at), self.last_before_run(at));
        let (elsewhere, elsewhere_before) = (at.cur + self.elsewhere, self.elsewhere_before_run(at));
        let same =
            |state: &[u64], a: usize, b: usize| state[a..a + self.cover()] == state[b..b + self.cover()];
        let fill = |state: &mut [u64], from: usize| {
            for (number, word) in state[from..from + self.cover()].iter_mut().enumerate() {
                *word = used[number % self.view.max(1)];
            }
        };
        let asks = self.has_sc_accesses(at.thread);
        if !self.accesses || !asks {
            fill(state, elsewhere_before);
        }
        if !self.accesses {
            fill(state, before);
            // The cover of the last fence is in `fences_before`.
            fill(state, last);
            return;
        }
        if !self.has_sc_events(at.thread) {
            fill(state, last);
            fill(state, before);
        } else if same(state, last, before) && (!asks || same(state, elsewhere, elsewhere_before)) {
            state[at.own + RUN] = 0;
        }
        if state[at.own + RUN] == 0 {
            fill(state, before);
            fill(state, elsewhere_before);
        }
    }
}

impl Use {
    /// Whether an event of it can be an SC read that writes nothing.
    fn only_reads_sc(&self, mode: Mode, read_mode: Mode) -> bool {
        match self {
            Use::Load | Use::Wait(_) => mode == Mode::SeqCst,
            Use::Cas(_) | Use::WeakCas(_) => read_mode == Mode::SeqCst,
            Use::Store | Use::Update | Use::BlockingCas(_) => false,
        }
    }

    /// Whether it can be a read that writes nothing.
    fn reads(&self) -> bool {
        !matches!(self, Use::Store | Use::Update | Use::BlockingCas(_))
    }
}

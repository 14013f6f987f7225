//! Runs watched for any memory model: what sources of runs hold, so that they need to know no model.
//!
//! RC20's clocks run under every model: data races are judged by its happens-before, and local times are its. RA is RC20
//! in which every access acquires and releases. RC11 adds what the partial SC order rules out (`psc`), in place of a hidden
//! location behind SC fences. A model with views of its own (TSO) keeps them beside, and is asked instead whether an access
//! could be stale.

use super::psc;
use super::{Clock, Did, Hidden, Look, Site, Slot, Stale, Time, Write, location, thread, tso};
use seqcst_model::{Mode, Model};

/// As many moments as nobody ever asks for.
const EVERYTHING: usize = 1 << 24;

/// What a thread knows.
#[derive(Clone, Debug)]
pub struct Thread {
    model: Model,
    rc20: thread::Thread,
    psc: psc::Thread,
    tso: tso::Thread,
}

/// What a location remembers.
#[derive(Debug)]
pub struct Location {
    rc20: location::Location,
    /// Its number, where all events are told.
    number: Option<u32>,
    /// Since the first SC event that matters to it, under RC11.
    psc: Option<Box<psc::Place>>,
    /// Since its first access under TSO.
    tso: Option<Box<tso::Location>>,
}

/// An access that is about to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// What it does with old writes.
    pub look: Look,
    /// Its memory order.
    pub mode: Mode,
    /// Its memory order if it turns out to read only.
    pub failure: Mode,
    /// It reads and writes in one step, if it writes.
    pub rmw: bool,
}

/// What a synchronisation object hands on from who releases it to who acquires it.
#[derive(Clone, Default, Debug)]
pub struct Message {
    rc20: thread::Message,
    psc: psc::Known,
    tso: tso::Message,
}

/// Whether SC accesses and SC fences of all threads are ordered among themselves, by a hidden location: in RC20 and RA they
/// are. On x86 a fence is a matter of its thread, and so it is in RC11, where SC accesses conflict by their locations only.
pub fn orders_sc(model: Model) -> bool {
    matches!(model, Model::Ra | Model::Rc20)
}

impl Message {
    /// Nothing released any more; keeps its memory.
    pub fn clear(&mut self) {
        self.rc20.clear();
        self.psc.clear();
        self.tso.clear();
    }
}

impl Location {
    /// A location with this value, of which `history` moments per thread, and twice as many writes, are remembered.
    pub fn new(value: u64, history: usize) -> Location {
        Location { rc20: location::Location::new(value, history), number: None, psc: None, tso: None }
    }

    /// A location of which everything is remembered, in a run of which every event is told: plain accesses too.
    pub fn exact(value: u64, number: u32) -> Location {
        Location { number: Some(number), ..Location::new(value, EVERYTHING) }
    }

    /// The same as [`Location::new`], in a run of which every event is told, or in which something plain comes after each
    /// ([`Thread::plain`]): what is known of SC accesses to the location is exact, too.
    pub fn numbered(value: u64, history: usize, number: u32) -> Location {
        Location { number: Some(number), ..Location::new(value, history) }
    }

    /// The same as a new location with this value; keeps its memory.
    pub fn renew(&mut self, value: u64) {
        self.rc20.renew(value);
        if let Some(psc) = &mut self.psc {
            psc.renew();
        }
        if let Some(tso) = &mut self.tso {
            tso.renew(value);
        }
    }

    /// The number of the last write, as happens-before counts them.
    #[inline]
    pub fn last(&self) -> u32 {
        self.rc20.last()
    }

    /// The write of this number, as [`Stale`] counts them, if still remembered.
    pub fn write(&self, number: u32) -> Option<&Write> {
        match &self.tso {
            Some(tso) => tso.write(number),
            None => self.rc20.write(number),
        }
    }

    /// The last access of each thread, and its last write.
    pub fn accesses(&self) -> impl Iterator<Item = (Slot, Did, Did)> {
        self.rc20.accesses()
    }

    fn tso(&mut self) -> &mut tso::Location {
        let Location { rc20, tso, .. } = self;
        tso.get_or_insert_with(|| {
            let value = rc20.write(rc20.last()).map_or(0, |write| write.value);
            Box::new(tso::Location::new(value, rc20.history().saturating_mul(2)))
        })
    }
}

impl Thread {
    /// A thread that is there from the start.
    pub fn first(slot: Slot, model: Model) -> Thread {
        let (rc20, psc, tso) =
            (thread::Thread::first(slot), psc::Thread::default(), tso::Thread::first(slot));
        Thread { model, rc20, psc, tso }
    }

    /// A thread of unknown origin, which knows nothing, in a slot whose last event was at `start`.
    pub fn foreign(slot: Slot, start: Time, model: Model) -> Thread {
        let (psc, tso) = (psc::Thread::default(), tso::Thread::foreign(slot, start));
        Thread { model, rc20: thread::Thread::foreign(slot, start), psc, tso }
    }

    /// A new thread, created by this one, in a slot whose last event was at `start` (0: never used).
    ///
    /// If the slot was used, this thread must know all of its former owner ([`Thread::knows_all`]).
    pub fn child(&mut self, slot: Slot, start: Time) -> Thread {
        let mut psc = psc::Thread::default();
        self.psc.renew_child(&mut psc);
        let tso = if self.is_tso() { self.tso.child(slot, start) } else { tso::Thread::first(slot) };
        Thread { model: self.model, rc20: self.rc20.child(slot, start), psc, tso }
    }

    /// From now on it is watched for this model, as if it had done nothing that matters there.
    pub fn watch(&mut self, model: Model) {
        self.model = model;
        self.psc.renew();
        self.tso = tso::Thread::foreign(self.slot(), self.time().saturating_sub(1));
    }

    /// The model.
    #[inline]
    pub fn model(&self) -> Model {
        self.model
    }

    /// Becomes what [`Thread::first`] makes; keeps its memory.
    pub fn renew(&mut self, slot: Slot, model: Model) {
        self.model = model;
        self.rc20.renew(slot);
        self.psc.renew();
        self.tso = tso::Thread::first(slot);
    }

    /// Makes `child` a new thread, created by this one, in a slot that was never used.
    pub fn renew_child(&mut self, child: &mut Thread, slot: Slot) {
        child.model = self.model;
        self.rc20.renew_child(&mut child.rc20, slot, 0);
        self.psc.renew_child(&mut child.psc);
        if self.is_tso() {
            child.tso = self.tso.child(slot, 0);
        }
    }

    /// Learns all that an ended thread knew.
    pub fn join(&mut self, ended: &Thread) {
        self.rc20.join(&ended.rc20);
        self.psc.join(&ended.psc);
        if self.is_tso() {
            self.tso.join(&ended.tso);
        }
    }

    /// The slot.
    pub fn slot(&self) -> Slot {
        self.rc20.slot()
    }

    /// The time of the next event.
    #[inline]
    pub fn time(&self) -> Time {
        self.rc20.time()
    }

    /// All events of `slot` up to `time` happen before what this thread does next, under SC too: what is only believed
    /// doesn't count.
    pub fn knows_all(&self, slot: Slot, time: Time) -> bool {
        self.rc20.knows_all(slot, time)
    }

    /// A time that stands for all events since others last heard of the thread: for data races they are the same.
    #[inline]
    pub fn epoch(&self) -> Time {
        self.rc20.epoch()
    }

    /// RC20's happens-before, as far as this thread has come.
    #[inline]
    pub fn cur(&self) -> &Clock {
        self.rc20.cur()
    }

    /// Could the next access be stale?
    ///
    /// `forgotten` tells up to when the events of a slot belong to a thread whose place was taken by another that
    /// doesn't know them: nothing is concluded from these.
    #[inline]
    pub fn check(&self, at: &Location, attempt: Attempt, forgotten: impl Fn(Slot) -> Time) -> Option<Stale> {
        match self.model {
            Model::Rc11 if self.psc.is_active() => self.check_sc(at, attempt, forgotten),
            Model::Rc11 | Model::Rc20 | Model::Ra => self.rc20.check(&at.rc20, attempt.look, forgotten),
            // Locked instructions read memory, not the store buffer.
            Model::Tso if !attempt.rmw => self.tso.check(at.tso.as_deref()?, attempt.look, forgotten),
            Model::Tso => None,
            // Under SC no access is stale, and no source takes the others.
            Model::Sc | Model::ArmV8 | Model::ArmV7 => None,
        }
    }

    /// The same under RC11, after SC events.
    fn check_sc(&self, at: &Location, attempt: Attempt, forgotten: impl Fn(Slot) -> Time) -> Option<Stale> {
        let Attempt { look, mode, failure, .. } = attempt;
        let (cur, place) = (self.rc20.cur(), &at.rc20);
        if place.is_known(cur) {
            return None;
        }
        let is_sc = |write: &Write| write.mode == Mode::SeqCst;
        let fences = self.psc.fences_before();
        let known = |slot| cur.get(slot).max(fences.before_fences.get(slot));
        let all = place.window(known, self.rc20.sc(), forgotten);
        if !place.fits(look, all) {
            return None;
        }
        let by_fence = |write: &Write| is_sc(write) && fences.events.get(write.slot) >= write.time;
        let all = if fences.events.is_nothing() { all } else { place.narrowed(all, by_fence) };
        let after_sc = self.psc.before_sc(at.number);
        let window = |mode: Mode| {
            if mode != Mode::SeqCst {
                return all;
            }
            place.narrowed(all, |write| {
                after_sc.iter().any(|cover| {
                    is_sc(write) && cover.events.get(write.slot) >= write.time
                        || cover.before_fences.get(write.slot) >= write.time
                })
            })
        };
        let found = |look: Look, mode: Mode| {
            let window = window(mode);
            place.fits(look, window).then(|| window.stale())
        };
        match look {
            Look::StrongCas(expected) => {
                found(Look::BlockingCas(expected), mode).or_else(|| found(Look::FailedCas(expected), failure))
            }
            _ => found(look, mode),
        }
    }

    /// An SC access comes next.
    #[inline]
    pub fn before_sc(&mut self, hidden: &mut Hidden) {
        if orders_sc(self.model) {
            self.rc20.fence(Mode::SeqCst, hidden);
        }
    }

    /// A load. Tells whether it is the thread's first access to the location.
    #[inline]
    pub fn load(&mut self, at: &mut Location, mode: Mode, site: Site) -> bool {
        if self.is_tso() {
            self.tso.load(at.tso());
        }
        self.read(at, mode, site)
    }

    /// A compare-and-swap that failed; `mode` is the one of failure. Tells whether it is the thread's first access to the
    /// location.
    #[inline]
    pub fn failed_cas(&mut self, at: &mut Location, mode: Mode, site: Site) -> bool {
        if self.is_tso() {
            self.tso.locked_load(at.tso());
        }
        self.read(at, mode, site)
    }

    #[inline(always)]
    fn read(&mut self, at: &mut Location, mode: Mode, site: Site) -> bool {
        let time = self.rc20.time();
        let (first, takes) = self.rc20.load_message(&mut at.rc20, self.mode(mode), site);
        self.sc_access(at, mode, time, (true, takes, false));
        first
    }

    /// A store. Tells whether it is the thread's first write to the location.
    #[inline]
    pub fn store(&mut self, at: &mut Location, mode: Mode, value: u64, site: Site) -> bool {
        let time = self.rc20.time();
        if self.is_tso() {
            self.tso.store(at.tso(), Did { time, site, mode }, value);
        }
        let first = self.rc20.store(&mut at.rc20, self.mode(mode), value, site);
        self.sc_access(at, mode, time, (false, false, true));
        first
    }

    /// A successful read-modify-write. Tells whether it is the thread's first write to the location.
    #[inline]
    pub fn rmw(&mut self, at: &mut Location, mode: Mode, value: u64, site: Site) -> bool {
        let time = self.rc20.time();
        if self.is_tso() {
            self.tso.rmw(at.tso(), Did { time, site, mode }, value);
        }
        let first = self.rc20.rmw(&mut at.rc20, self.mode(mode), value, site);
        self.sc_access(at, mode, time, (true, true, true));
        first
    }

    /// What an access means to the partial SC order.
    #[inline]
    fn sc_access(
        &mut self,
        at: &mut Location,
        mode: Mode,
        time: Time,
        (reads, takes, writes): (bool, bool, bool),
    ) {
        if self.model == Model::Rc11 && !self.psc.is_idle(at.psc.as_deref(), mode) {
            let (slot, number) = (self.rc20.slot(), at.number);
            let access = psc::Access { slot, time, mode, reads, takes, writes, number };
            self.psc.access(at.psc.get_or_insert_default(), access, self.rc20.cur());
        }
    }

    /// A plain access, where all events are told.
    pub fn plain(&mut self) {
        self.psc.plain();
    }

    /// A fence. Under RA nothing is left for others than SC fences to order, under TSO they do nothing to the buffer.
    pub fn fence(&mut self, mode: Mode, hidden: &mut Hidden) {
        match self.model {
            Model::Rc11 => {
                let at = (self.rc20.slot(), self.rc20.time());
                if mode.is_acquire() {
                    self.rc20.fence(Mode::Acquire, hidden);
                }
                self.psc.fence(mode, at, self.rc20.cur());
                if mode.is_release() {
                    self.rc20.fence(Mode::Release, hidden);
                }
            }
            Model::Ra if mode != Mode::SeqCst => {}
            _ => self.rc20.fence(mode, hidden),
        }
        if self.is_tso() && mode == Mode::SeqCst {
            self.tso.fence();
        }
    }

    /// The location is touched by code that nobody sees: learn all that it could hand on, hand on all that is known,
    /// and conclude nothing from the order of accesses.
    pub fn blur(&mut self, at: &mut Location) {
        self.rc20.blur(&mut at.rc20);
        if self.is_tso() {
            self.tso.blur(at.tso());
        }
        if self.model == Model::Rc11 && !self.psc.is_idle(at.psc.as_deref(), Mode::Relaxed) {
            self.psc.blur(at.psc.get_or_insert_default());
        }
    }

    /// Acquires an object that orders more than there is: what is learnt counts as known, and nothing is concluded from
    /// it.
    pub fn believe(&mut self, from: &Message) {
        self.rc20.believe(&from.rc20);
        self.psc.acquire(&from.psc);
        if self.is_tso() {
            self.tso.believe(&from.tso);
        }
    }

    /// Acquires a synchronisation object.
    pub fn acquire(&mut self, from: &Message) {
        self.rc20.acquire(&from.rc20);
        self.psc.acquire(&from.psc);
        if self.is_tso() {
            self.tso.acquire(&from.tso);
        }
    }

    /// All that the thread in `slot` did before its event of this time happens before what comes next. If that is true of all
    /// threads, nothing needs to be learnt of what they knew: it was somebody's.
    pub fn hear_of(&mut self, slot: Slot, time: Time) {
        self.rc20.hear_of(slot, time);
        if self.is_tso() {
            self.tso.hear_of(slot, time);
        }
    }

    /// A fence that somebody else makes in this thread, who handed this on before: what is done from now on comes after it.
    pub fn fenced_by(&mut self, other: &Message) {
        self.acquire(other);
        self.fence(Mode::SeqCst, &mut Hidden::new());
    }

    /// Releases a synchronisation object.
    pub fn release(&mut self, into: &mut Message) {
        self.psc.release(&mut into.psc);
        self.rc20.release(&mut into.rc20);
        if self.is_tso() {
            self.tso.release(&mut into.tso);
        }
    }

    #[inline]
    fn is_tso(&self) -> bool {
        self.model == Model::Tso
    }

    /// What an access of this mode counts as: under RA, every one acquires and releases.
    #[inline]
    pub fn mode(&self, mode: Mode) -> Mode {
        match mode {
            Mode::NonAtomic | Mode::SeqCst => mode,
            _ if self.model == Model::Ra => Mode::AcqRel,
            _ => mode,
        }
    }
}

impl Default for Thread {
    fn default() -> Thread {
        Thread::first(0, Model::default())
    }
}

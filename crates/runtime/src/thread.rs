//! The threads of the program: slots, views, creation, exit.
//!
//! A thread lives in a *slot*, its place in every clock. A dead thread's slot goes to a new one whose parent knows all
//! that the dead one did: then the new one simply goes on where the other stopped, and nothing is lost. Where no such
//! slot is free and the dead crowd the clocks, one is taken all the same, and what its former owner did is *forgotten*:
//! from then on nothing is concluded from it (that can only miss).

use crate::context::{Site, Stack};
use crate::held::{Held, Hold};
use crate::journal::{Event, EventKind, Journal};
use crate::spin::Lock;
use crate::waits::Waits;
use crate::{control, options, sys};
use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};
use seqcst_model::{Mode, Model};
use seqcst_monitor::clocks::run::Message;
use seqcst_monitor::clocks::{Slot, Time, run};
use std::sync::Arc;

/// Slots there are: what a race cell has bits for.
pub const SLOTS: usize = 1024;
/// Dead threads that may keep their slots until somebody is made to forget them.
const CROWD: usize = 48;

/// One thread of the program.
pub struct Thread {
    /// What it knows.
    pub views: run::Thread,
    /// Where it is.
    pub stack: Stack,
    /// What it did lately.
    pub journal: &'static Journal,
    /// What its spinning loads have read.
    pub waits: Waits,
    /// Inside the runtime: signals wait, and what runs here all the same (a handler of a fault) isn't watched.
    pub busy: bool,
    /// Signals wait until it leaves.
    interrupted: bool,
    /// Whether races are looked for (the option, within reach).
    pub races: bool,
    /// Accesses that aren't looked at for races for now.
    pub ignored: Ignored,
    /// Somebody has made a fence in it, which it hasn't heard of.
    fenced: AtomicBool,
    /// The local time at which its cells in `shadow` start to count.
    pub cell_base: Time,
    /// As shown to people: in order of creation.
    pub number: u32,
    exited: ExitedThread,
}

/// How often the program has asked to ignore accesses of a thread, and not taken it back.
#[derive(Clone, Copy, Default)]
pub struct Ignored {
    /// Reads.
    pub reads: u32,
    /// Writes.
    pub writes: u32,
}

/// Where a thread leaves its views when it ends, for who joins it.
#[derive(Clone)]
pub struct ExitedThread(Arc<Lock<Option<(run::Thread, u32)>>>);

impl ExitedThread {
    fn new() -> ExitedThread {
        ExitedThread(Arc::new(Lock::new(None)))
    }
}

/// A thread that was announced but hasn't begun.
pub struct ThreadStart {
    views: run::Thread,
    number: u32,
    exited: ExitedThread,
}

struct Slots {
    states: Vec<State>,
    threads: u32,
    /// Fences that others have made in these threads, which haven't heard of it: with what those knew who made them.
    fences: Vec<(Slot, Arc<Message>)>,
}

#[derive(Clone, Copy)]
enum State {
    Alive(*mut Thread),
    /// Announced, not yet begun.
    Coming,
    Dead {
        last: Time,
    },
}

// SAFETY: the pointers are followed only after a fork, when no other thread is left.
unsafe impl Send for State {}

static SLOTS_IN_USE: Lock<Slots> = Lock::new(Slots { states: Vec::new(), threads: 0, fences: Vec::new() });
/// Up to when the events of a slot are forgotten.
static FORGOTTEN: [AtomicU32; SLOTS] = [const { AtomicU32::new(0) }; SLOTS];
/// Thread numbers by slot, for reports: the owner at present or the last one.
static NUMBERS: [AtomicU32; SLOTS] = [const { AtomicU32::new(0) }; SLOTS];
/// Something can't be watched any longer: no verdict from now on.
static BLIND: AtomicBool = AtomicBool::new(false);

thread_local! {
    static CURRENT: Cell<*mut Thread> = const { Cell::new(ptr::null_mut()) };
    static GONE: Cell<bool> = const { Cell::new(false) };
    /// On its way into a slot: a handler of a signal that comes now isn't watched, and must not wait for the slots.
    static COMING: Cell<bool> = const { Cell::new(false) };
}

/// The current thread. Made up if nobody announced it: the main thread, or one of foreign origin.
#[inline]
pub fn current() -> &'static mut Thread {
    let thread = CURRENT.get();
    if thread.is_null() {
        return unannounced();
    }
    // SAFETY: owned by this thread alone and alive until `end`. Callers let go of the reference before they call
    // anything that could ask for it again (`busy` guards the entry points).
    unsafe { &mut *thread }
}

/// The current thread, unless it is inside the runtime (a signal handler interrupts it there) or past its end.
#[inline]
pub fn entering() -> Option<&'static mut Thread> {
    let thread = CURRENT.get();
    if thread.is_null() {
        return (!GONE.get() && !COMING.get()).then(unannounced);
    }
    // SAFETY: as in `current`.
    let thread = unsafe { &mut *thread };
    if thread.busy {
        return None;
    }
    if thread.fenced.load(Ordering::Relaxed) {
        thread.hear_of_fences();
    }
    Some(thread)
}

impl Thread {
    /// Are its reads, or its writes, looked at for races?
    #[inline]
    pub fn looks_for_races(&self, write: bool) -> bool {
        self.races && if write { self.ignored.writes == 0 } else { self.ignored.reads == 0 }
    }

    /// Leaves the runtime. No lock is held, and the thread isn't used any more by the caller: handlers of signals may run.
    #[inline(always)]
    pub fn leave(&mut self) {
        // A handler on this thread looks at both.
        compiler_fence(Ordering::SeqCst);
        self.busy = false;
        compiler_fence(Ordering::SeqCst);
        if self.interrupted {
            self.interrupted = false;
            crate::interpose::signals::deliver();
        }
    }
}

/// While a plan is played: the current thread goes on with what it was about to do.
#[inline]
pub fn goes_on() {
    let thread = CURRENT.get();
    // SAFETY: owned by this thread, which has stopped in a place where it uses nothing of what changes here.
    if !thread.is_null() && unsafe { (*thread).fenced.load(Ordering::Relaxed) } {
        // SAFETY: as above.
        unsafe { (*thread).hear_of_fences() };
    }
}

impl Thread {
    #[cold]
    #[inline(never)]
    fn hear_of_fences(&mut self) {
        let slot = self.views.slot();
        let busy = core::mem::replace(&mut self.busy, true);
        let mut slots = SLOTS_IN_USE.lock();
        self.fenced.store(false, Ordering::Relaxed);
        slots.fences.retain(|(whose, message)| {
            if *whose == slot {
                self.views.fenced_by(message);
            }
            *whose != slot
        });
        drop(slots);
        self.waits.effect();
        self.busy = busy;
    }
}

/// The other threads that are there, or coming, by their numbers; the current one hears of all that the ended ones did.
pub fn others(me: &mut Thread) -> Vec<u32> {
    let slots = SLOTS_IN_USE.lock();
    let mut others = Vec::new();
    for (slot, state) in slots.states.iter().enumerate().map(|(slot, state)| (slot as Slot, state)) {
        match *state {
            State::Dead { last } => me.views.hear_of(slot, last),
            _ if slot != me.views.slot() => others.push(number(slot)),
            _ => {}
        }
    }
    others.sort_unstable();
    others
}

/// Makes a fence in the thread of this number, after all that it has done: the current one, which handed on this message
/// before, hears of that. It is for the other one to hear of the message before it does anything else.
pub fn fence_in(me: &mut Thread, other: u32, message: &Arc<Message>) {
    let mut slots = SLOTS_IN_USE.lock();
    let is_it = |(slot, state): &(usize, &State)| {
        number(*slot as Slot) == other && !matches!(state, State::Dead { .. })
    };
    let Some((slot, &state)) = slots.states.iter().enumerate().find(is_it) else {
        // It has ended in the meantime.
        let dead = slots.states.iter().enumerate().find(|&(slot, _)| number(slot as Slot) == other);
        if let Some((slot, &State::Dead { last })) = dead {
            me.views.hear_of(slot as Slot, last);
        }
        return;
    };
    slots.fences.push((slot as Slot, message.clone()));
    if let State::Alive(thread) = state {
        // SAFETY: it can't end while we have the slots. Its time may be changing under our eyes: then the event that it is
        // at comes before the fence or after it, as it likes.
        unsafe {
            (*thread).fenced.store(true, Ordering::Relaxed);
            me.views.hear_of(slot as Slot, (*thread).views.time());
        }
    }
}

/// Is the current thread inside the runtime? For handlers of signals.
pub fn is_inside() -> bool {
    let thread = CURRENT.get();
    // SAFETY: owned by this thread, which is interrupted.
    !thread.is_null() && unsafe { (&raw const (*thread).busy).read_volatile() }
}

/// A signal waits until the current thread leaves the runtime.
pub fn interrupt() {
    let thread = CURRENT.get();
    if !thread.is_null() {
        // SAFETY: as above.
        unsafe { (&raw mut (*thread).interrupted).write_volatile(true) };
    }
}

/// Whether the runtime knows this thread already.
pub fn is_known() -> bool {
    !CURRENT.get().is_null()
}

/// No verdict from now on, for this reason.
#[cold]
pub fn go_blind(why: &str) {
    if !BLIND.swap(true, Ordering::Relaxed) {
        crate::report::unsupported(why);
    }
}

/// Are verdicts still to be trusted?
#[inline]
pub fn is_blind() -> bool {
    BLIND.load(Ordering::Relaxed)
}

/// Up to when nothing is concluded from a slot's events.
#[inline]
pub fn forgotten(slot: Slot) -> Time {
    FORGOTTEN[usize::from(slot) % SLOTS].load(Ordering::Relaxed)
}

/// The number shown to people of a slot's latest thread.
pub fn number(slot: Slot) -> u32 {
    NUMBERS[usize::from(slot) % SLOTS].load(Ordering::Relaxed)
}

#[cold]
fn unannounced() -> &'static mut Thread {
    COMING.set(true);
    crate::start();
    let mut slots = SLOTS_IN_USE.lock();
    let number = slots.next_number();
    let (slot, last) = slots.find(|_, _| false);
    let views = run::Thread::foreign(slot, last, model());
    let child = ThreadStart { views, number, exited: ExitedThread::new() };
    slots.occupy(child);
    drop(slots);
    COMING.set(false);
    crate::interpose::threads::adopt();
    current()
}

/// The model that threads are watched for.
fn model() -> Model {
    if control::active() { control::settings::get().model() } else { options::get().model }
}

/// The current thread is about to create another: its slot and first view, and where it leaves its last view for the thread that joins it.
pub fn announce_child(pc: usize) -> (ThreadStart, ExitedThread) {
    goes_on();
    let parent = current();
    parent.busy = true;
    let mut slots = SLOTS_IN_USE.lock();
    let number = slots.next_number();
    let (slot, last) = slots.find(|slot, last| parent.views.knows_all(slot, last));
    slots.states[usize::from(slot)] = State::Coming;
    slots.fences.retain(|&(whose, _)| whose != slot);
    NUMBERS[usize::from(slot) % SLOTS].store(number, Ordering::Relaxed);
    drop(slots);
    let exited = ExitedThread::new();
    note(parent, EventKind::Spawn, number, pc);
    let child = ThreadStart { views: parent.views.child(slot, last), number, exited: exited.clone() };
    parent.leave();
    (child, exited)
}

/// The thread couldn't be created after all.
pub fn cancel(child: ThreadStart) {
    let slot = usize::from(child.views.slot());
    SLOTS_IN_USE.lock().states[slot] = State::Dead { last: child.views.time() - 1 };
}

/// The new thread's first act.
pub fn begin(child: ThreadStart) {
    let number = child.number;
    COMING.set(true);
    let thread = SLOTS_IN_USE.lock().occupy(child);
    COMING.set(false);
    note(thread, EventKind::Begin, number, 0);
}

/// The thread's last act. What it does after that isn't watched.
pub fn end() {
    if CURRENT.get().is_null() {
        return;
    }
    GONE.set(true); // first: a signal that comes in between must not make up another thread
    let thread = CURRENT.replace(ptr::null_mut());
    // SAFETY: made by `occupy` from a box; this thread alone had it.
    let mut thread = unsafe { Box::from_raw(thread) };
    let number = thread.number;
    note(&mut thread, EventKind::End, number, 0);
    let slot = usize::from(thread.views.slot());
    let last = thread.views.time();
    *thread.exited.0.lock() = Some((thread.views, number));
    SLOTS_IN_USE.lock().states[slot] = State::Dead { last };
}

/// The current thread has joined the one that left this.
pub fn join(exited: &ExitedThread, pc: usize) {
    let thread = current();
    thread.busy = true;
    if let Some((views, number)) = &*exited.0.lock() {
        thread.views.join(views);
        note(thread, EventKind::Join, *number, pc);
    }
    thread.leave();
}

/// `pc` 0: nowhere in particular.
fn note(thread: &mut Thread, what: EventKind, number: u32, pc: usize) {
    thread.waits.effect();
    let site = if pc == 0 { Site(0) } else { thread.stack.site(pc) };
    let (time, addr) = (thread.views.time(), number as usize);
    thread.journal.push(Event { time, write: 0, addr, life: 0, site, what, mode: Mode::AcqRel, size: 0 });
}

/// After a fork, in the child: the others aren't there.
pub fn fork_child() {
    let me = CURRENT.get();
    for state in &mut SLOTS_IN_USE.lock().states {
        match *state {
            State::Alive(thread) if thread != me => {
                // SAFETY: its owner doesn't exist in this process.
                let last = unsafe { (*thread).views.time() };
                *state = State::Dead { last: last.saturating_add(1) };
            }
            _ => {}
        }
    }
}

/// Around a fork.
pub fn held() -> &'static dyn Hold {
    static HELD: Held<Slots, 1> = Held::new(core::array::from_ref(&SLOTS_IN_USE));
    &HELD
}

impl Slots {
    fn next_number(&mut self) -> u32 {
        self.threads += 1;
        self.threads - 1
    }

    /// A slot for a new thread and its last time: a dead one that `fits`, else a fresh one, else a forgotten one.
    fn find(&mut self, fits: impl Fn(Slot, Time) -> bool) -> (Slot, Time) {
        let dead = self.states.iter().enumerate().filter_map(|(slot, state)| match *state {
            State::Dead { last } if last < Time::MAX => Some((slot as Slot, last)),
            _ => None, // in use, or its times are used up
        });
        if let Some(found) = dead.clone().find(|&(slot, last)| fits(slot, last)) {
            return found;
        }
        let crowded = dead.clone().count() > CROWD || self.states.len() == SLOTS;
        if crowded && let Some((slot, last)) = dead.min_by_key(|&(_, last)| last) {
            FORGOTTEN[usize::from(slot)].store(last, Ordering::Release);
            return (slot, last);
        }
        if self.states.len() == SLOTS {
            go_blind("more than 1024 threads at the same time: no verdicts from here on");
            return ((SLOTS - 1) as Slot, 0);
        }
        self.states.push(State::Coming);
        ((self.states.len() - 1) as Slot, 0)
    }

    fn occupy(&mut self, child: ThreadStart) -> &'static mut Thread {
        let ThreadStart { views, number, exited } = child;
        let slot = usize::from(views.slot());
        NUMBERS[slot].store(number, Ordering::Relaxed);
        let cell_base = crate::shadow::base(slot as Slot);
        let fenced = self.fences.iter().any(|&(whose, _)| usize::from(whose) == slot);
        let races = if control::active() { control::settings::get().races() } else { options::get().races };
        let thread = Box::into_raw(Box::new(Thread {
            views,
            stack: Stack::new(),
            journal: Journal::of(slot as Slot, number),
            waits: Waits::default(),
            busy: false,
            interrupted: false,
            races,
            ignored: Ignored::default(),
            fenced: AtomicBool::new(fenced),
            cell_base,
            number,
            exited,
        }));
        self.states[slot] = State::Alive(thread);
        CURRENT.set(thread);
        // SAFETY: just made; this thread alone has it.
        unsafe { &mut *thread }
    }
}

/// Give up the processor, by turns: for those who wait for a lock bit.
#[cold]
pub fn pause(turn: &mut u32) {
    *turn += 1;
    if *turn < 64 {
        core::hint::spin_loop();
    } else {
        sys::sched_yield();
    }
}

//! Reports: what the monitors found, told to people once per pair of source positions, and counted.
//!
//! A violation in a hot loop comes millions of times: `seen` counts pairs of sites without locks, and only a new pair
//! goes on to be given names (`symbols`), compared with the reports there are, and printed (`text`). At exit
//! `finish` prints the totals and writes JSON (`json`).

mod counts;
mod found;
mod frames;
mod json;
mod misuse;
mod modules;
mod output;
mod repair;
mod room;
mod seen;
mod state;
mod symbols;
mod text;
mod words;

pub use found::{Access, Fate, Kind, Report, Shown, Step, Swap};
pub use frames::Frame;
pub use misuse::{Misuse, Object};

use crate::context::Site;
use crate::control::{findings, server};
use crate::interpose::claims;
use crate::journal::{EventKind, Link};
use crate::spin::Lock;
use crate::{options, sys};
use core::sync::atomic::{AtomicU32, Ordering};
use room::Room;
use seen::{Pair, Seen};
use state::{State, Violation};

static STATE: Lock<(State, Room)> = Lock::new((State::new(), Room::new()));

/// The kernel's number of the thread that has the state, or 0.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Uses the state, on the large stack. None if this thread is in the middle of that already: a signal handler came, or
/// it crashed there.
fn with_state<T>(work: impl FnOnce(&mut State) -> T) -> Option<T> {
    let me = sys::gettid();
    if OWNER.load(Ordering::Relaxed) == me {
        return None;
    }
    let (state, room) = &mut *STATE.lock();
    OWNER.store(me, Ordering::Relaxed);
    let result = room.enter(|| work(state));
    OWNER.store(0, Ordering::Relaxed);
    Some(result)
}

/// The access may be stale: it can miss `missed`, and see `older` instead. `benign`: that only makes a loop wait longer.
#[inline]
pub fn stale(
    access: &Access,
    missed: Option<&Access>,
    older: Option<&Access>,
    swap: Option<Swap>,
    chain: impl FnOnce() -> Vec<Link>,
    benign: bool,
) {
    let kind = if benign { Kind::Wait } else { Kind::Stale };
    if server::is_quiet() {
        return findings::note(kind, access, missed);
    }
    let pair = match seen::count(kind, access.site, missed.map_or(Site::UNKNOWN, |missed| missed.site)) {
        Seen::Before => return,
        Seen::Never(pair) => Some(pair),
        Seen::NoRoom => None,
    };
    let chain = chain();
    // The journal knows more: the order of the write, and its thread even if another has its slot by now.
    let missed = missed.map(|missed| match chain.first() {
        Some(first) => Access { mode: Some(first.mode), thread: first.thread, ..*missed },
        None => *missed,
    });
    tell(&Violation { kind, access, other: missed.as_ref(), older, swap, freed: false, chain }, pair);
}

/// Two accesses race: one of them plain, one of them a write. `freed`: the later one frees the memory.
#[inline]
pub fn race(now: &Access, before: &Access, freed: bool) {
    if claims::is_benign(now.addr, now.size.into()) {
        return;
    }
    if server::is_quiet() {
        return findings::note(Kind::Race, now, Some(before));
    }
    let pair = match seen::count(Kind::Race, now.site, before.site) {
        Seen::Before => return,
        Seen::Never(pair) => Some(pair),
        Seen::NoRoom => None,
    };
    let freed = freed || now.what == EventKind::Free;
    let chain = Vec::new();
    let violation = Violation {
        kind: Kind::Race,
        access: now,
        other: Some(before),
        older: None,
        swap: None,
        freed,
        chain,
    };
    tell(&violation, pair);
}

/// Something is used that may not be used, or not so. `earlier`: what ended its life; `allocated`: where it comes from.
#[cold]
pub fn misuse(misuse: Misuse, now: &Access, earlier: Option<&Access>, allocated: Option<&Access>) {
    let kind = Kind::Misuse(misuse);
    if server::is_quiet() {
        return findings::note(kind, now, earlier);
    }
    let pair = match seen::count(kind, now.site, earlier.map_or(Site::UNKNOWN, |earlier| earlier.site)) {
        Seen::Before => return,
        Seen::Never(pair) => Some(pair),
        Seen::NoRoom => None,
    };
    let chain = Vec::new();
    tell(
        &Violation { kind, access: now, other: earlier, older: allocated, freed: false, swap: None, chain },
        pair,
    );
}

#[cold]
fn tell(violation: &Violation<'_>, pair: Option<&Pair>) {
    with_state(|state| state.add(violation, pair));
}

/// Something in the program can't be watched: said once per text.
#[cold]
pub fn unsupported(what: &str) {
    if server::is_quiet() {
        return;
    }
    with_state(|state| {
        if !state.notes.iter().any(|note| note == what) {
            state.notes.push(what.to_owned());
            output::say(&format!("seqcst: note: {what}\n"));
        }
    });
}

/// The access is in the locks, channels or threads of Rust's standard library, as far as they are inlined.
pub fn is_std_lock(site: Site) -> bool {
    with_state(|state| frames::is_std_lock(&state.symbols().stack(site))).unwrap_or(false)
}

/// Two instructions that come from the same place in the source, inlined into the same functions.
pub fn same_source(pc: usize, other: usize) -> bool {
    let find = || with_state(|state| state.symbols().same_source(pc, other)).unwrap_or(false);
    if server::is_quiet() { findings::same_source(pc, other, find) } else { find() }
}

/// Would it be reported as an error?
pub fn counts_as_error(kind: Kind, access: &Access, other: Option<&Access>) -> bool {
    with_state(|state| state.counts_as_error(kind, access, other)).unwrap_or(true)
}

/// Prints the totals and writes JSON. True if the exit code has to tell that errors were reported. May be called
/// several times, at exit and in a crash; says nothing twice.
pub fn finish() -> bool {
    with_state(State::finish).unwrap_or_else(|| {
        output::warn("ended in the middle of a report");
        options::get().exitcode != 0
    })
}

/// In the child of a fork: what was found so far is for the parent to tell.
pub fn fork_child() {
    OWNER.store(0, Ordering::Relaxed);
    output::fork_child();
    seen::clear();
    if let Some(mut guard) = STATE.try_lock() {
        return guard.0.clear();
    }
    // A thread that isn't there any more was in the middle of a report: what it left behind can't be trusted.
    STATE.reset();
    core::mem::forget(core::mem::replace(&mut *STATE.lock(), (State::new(), Room::new())));
}

/// Reads what options name, so that mistakes are told before the program starts.
pub fn start() {
    with_state(|state| state.rules().len());
}

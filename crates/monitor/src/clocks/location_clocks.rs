//! Location clocks: the readable reference of the dynamic monitor (\[RSAN25], Fig. 4 and §4).
//!
//! A location clock says, for every location, how many writes to it are known: `L(x) = t` if the write with timestamp
//! `t`, the `t`-th after the initial one, is the newest known. Everything here costs O(locations), which is why
//! programs are watched by thread clocks instead ([`Thread`](super::Thread)); `tests/dynamic` holds both equal, and both
//! equal to the definition on execution graphs.
//!
//! The paper keeps further clocks for writes (§4.1) and for critical values (§4.3). Here the writes themselves are
//! kept: all that those clocks tell is which writes lie between what a thread knows by happens-before and what it
//! knows under SC.
//!
//! Here are the rules of Fig. 4; `state` has what is kept, `objects` how threads meet other than by atomics.

mod objects;
pub mod rc11;
mod state;

use super::{Look, Stale};
use seqcst_model::Mode;
pub use state::LocationClocks;
use state::{Clock, Place, Views, Write};

impl LocationClocks {
    /// Could this access, about to be executed, do under RC20 what SC forbids (Thm. 3.1)? An SC access is an SC fence
    /// followed by the access: the fence has been executed already.
    pub fn stale(&self, thread: usize, x: usize, look: Look) -> Option<Stale> {
        let (views, writes) = (&self.threads[thread], &self.places[x].writes);
        let (known, missed) = (views.cur.0[x], views.sc.0[x]);
        // Those that the thread may still read, or write after, though by `hbSC` there is a newer one.
        let mut stale = (known..missed).map(|t| (writes[t].value, writes[t + 1].rmw));
        let found = match look {
            Look::Load => stale.next().is_some(),
            Look::Wait(v) => stale.any(|(value, _)| value == v),
            Look::Store => stale.any(|(_, taken)| !taken),
            Look::StrongCas(expected) => stale.any(|(value, taken)| value != expected || !taken),
            Look::BlockingCas(expected) => stale.any(|(value, taken)| value == expected && !taken),
            Look::FailedCas(expected) => stale.any(|(value, _)| value != expected),
        };
        found.then_some(Stale { known: known as u32, missed: missed as u32 })
    }

    /// A load, a wait that was fulfilled, or a compare-and-swap that failed.
    pub fn load(&mut self, thread: usize, x: usize, mode: Mode) {
        let (views, place) = (&mut self.threads[thread], &mut self.places[x]);
        place.access_sc.join(&views.sc);
        views.sc.join(&place.write_sc);
        read(views, place, mode);
        views.know(x, place.last());
    }

    /// A store.
    pub fn store(&mut self, thread: usize, x: usize, mode: Mode, value: u64) {
        let source = self.write(thread, x, mode, Write { value, rmw: false });
        self.places[x].message = source;
    }

    /// A read-modify-write that wrote this value.
    pub fn rmw(&mut self, thread: usize, x: usize, mode: Mode, value: u64) {
        read(&mut self.threads[thread], &self.places[x], mode);
        let source = self.write(thread, x, mode, Write { value, rmw: true });
        // The release sequence goes on: who reads this learns what the writes before it told, too.
        self.places[x].message.join(&source);
    }

    /// Adds a write, and gives what the writer tells.
    fn write(&mut self, thread: usize, x: usize, mode: Mode, write: Write) -> Clock {
        let (views, place) = (&mut self.threads[thread], &mut self.places[x]);
        place.writes.push(write);
        let t = place.last();
        views.sc.join(&place.access_sc);
        views.sc.learn(x, t);
        (place.write_sc, place.access_sc) = (views.sc.clone(), views.sc.clone());
        views.know(x, t);
        let mut source = if mode.is_release() { views.cur.clone() } else { views.rel.clone() };
        source.learn(x, t);
        source
    }

    /// A fence (§4.2). An SC fence is an acquire fence, an acquire-release RMW of the hidden location, and a release
    /// fence.
    pub fn fence(&mut self, thread: usize, mode: Mode) {
        if mode.is_acquire() {
            self.threads[thread].cur = self.threads[thread].acq.clone();
        }
        if mode == Mode::SeqCst {
            self.rmw(thread, self.places.len() - 1, Mode::AcqRel, 0);
        }
        if mode.is_release() {
            self.threads[thread].rel = self.threads[thread].cur.clone();
        }
    }
}

/// Learns what the last write of a location tells: now if the read is an acquire, else at the next acquire fence.
fn read(views: &mut Views, place: &Place, mode: Mode) {
    views.acq.join(&place.message);
    if mode.is_acquire() {
        views.cur.join(&place.message);
    }
}

//! Location clocks: the readable reference of the dynamic monitor (seed 000, Fig. 4 and §4).
//!
//! A location clock says, for every location, how many writes to it are known: `L(x) = t` if the write with timestamp
//! `t`, the `t`-th after the initial one, is the newest known. Everything here costs O(locations), which is why
//! programs are watched by thread clocks instead ([`Thread`](super::Thread)); `tests/dynamic` holds both equal, and both
//! equal to the definition on execution graphs.
//!
//! The paper keeps further clocks for writes (§4.1) and for critical values (§4.3). Here the writes themselves are
//! kept: all that those clocks tell is which writes lie between what a thread knows by happens-before and what it
//! knows under SC.

use super::{Look, Stale};
use seqcst_model::Mode;

/// `L : Loc → Time`
#[derive(Clone, PartialEq, Eq, Debug)]
struct Clock(Vec<usize>);

impl Clock {
    /// `L := L ⊔ L'`
    fn join(&mut self, other: &Clock) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
    }

    /// `L := L ⊔ x@t`
    fn learn(&mut self, x: usize, t: usize) {
        self.0[x] = t.max(self.0[x]);
    }
}

/// What a thread knows.
#[derive(Clone, Debug)]
struct Views {
    /// `T_SC`, by `hbSC`.
    sc: Clock,
    /// `T_c`, by `hb`: its next access comes after this.
    cur: Clock,
    /// `T_r`: what it knew at its last release fence.
    rel: Clock,
    /// `T_a`: what it will know at its next acquire fence.
    acq: Clock,
}

impl Views {
    fn know(&mut self, x: usize, t: usize) {
        self.cur.learn(x, t);
        self.acq.learn(x, t);
    }
}

/// What is known of a location.
#[derive(Clone, Debug)]
struct Place {
    /// All writes in modification order, the initial one first: a write's timestamp is its number.
    writes: Vec<Write>,
    /// `W_SC`: what comes before the last write, by `hbSC`.
    write_sc: Clock,
    /// `M_SC`: what comes before some access, by `hbSC`. The next write comes after all of them.
    access_sc: Clock,
    /// `W_HB`: what an acquiring reader of the last write learns.
    message: Clock,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    value: u64,
    /// Made by a read-modify-write: nothing can come between it and the write before it.
    rmw: bool,
}

impl Place {
    fn last(&self) -> usize {
        self.writes.len() - 1
    }
}

/// An object other than an atomic that threads synchronise by, such as a mutex.
#[derive(Clone, Debug)]
struct Object {
    sc: Clock,
    hb: Clock,
}

/// The monitor: threads, locations and objects are numbered from 0.
#[derive(Clone, Debug)]
pub struct LocationClocks {
    threads: Vec<Views>,
    /// The last one is the hidden location of SC fences.
    places: Vec<Place>,
    objects: Vec<Object>,
}

impl LocationClocks {
    /// One thread, these locations, this many objects.
    pub fn new(initial: &[u64], objects: usize) -> LocationClocks {
        let nothing = Clock(vec![0; initial.len() + 1]);
        let place = |&value: &u64| Place {
            writes: vec![Write { value, rmw: false }],
            write_sc: nothing.clone(),
            access_sc: nothing.clone(),
            message: nothing.clone(),
        };
        let places = initial.iter().chain([&0]).map(place).collect();
        let object = Object { sc: nothing.clone(), hb: nothing.clone() };
        let mut clocks = LocationClocks { threads: Vec::new(), places, objects: vec![object; objects] };
        clocks.appear();
        clocks
    }

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

    /// The thread creates another one, which gets the next number.
    pub fn create(&mut self, thread: usize) {
        let Views { sc, cur, .. } = self.threads[thread].clone();
        self.appear();
        self.learn(self.threads.len() - 1, &Object { sc, hb: cur });
    }

    /// There is one more thread that knows nothing.
    pub fn appear(&mut self) {
        let nothing = Clock(vec![0; self.places.len()]);
        let (sc, cur, rel) = (nothing.clone(), nothing.clone(), nothing.clone());
        self.threads.push(Views { sc, cur, rel, acq: nothing });
    }

    /// The thread waits for the end of another one.
    pub fn join(&mut self, thread: usize, ended: usize) {
        let Views { sc, cur, .. } = self.threads[ended].clone();
        self.learn(thread, &Object { sc, hb: cur });
    }

    /// The thread learns what was released at the object, as by locking a mutex.
    pub fn acquire(&mut self, thread: usize, object: usize) {
        let object = self.objects[object].clone();
        self.learn(thread, &object);
    }

    /// The thread adds what it knows to what is known at the object, as by unlocking a mutex.
    pub fn release(&mut self, thread: usize, object: usize) {
        let (views, object) = (&self.threads[thread], &mut self.objects[object]);
        object.sc.join(&views.sc);
        object.hb.join(&views.cur);
    }

    fn learn(&mut self, thread: usize, from: &Object) {
        let views = &mut self.threads[thread];
        views.sc.join(&from.sc);
        views.cur.join(&from.hb);
        views.acq.join(&from.hb);
    }
}

/// Learns what the last write of a location tells: now if the read is an acquire, else at the next acquire fence.
fn read(views: &mut Views, place: &Place, mode: Mode) {
    views.acq.join(&place.message);
    if mode.is_acquire() {
        views.cur.join(&place.message);
    }
}

//! The readable reference of the monitor for RC11: location clocks with the partial SC order (`docs/theory.md`,
//! "SC accesses").
//!
//! Happens-before is RC20's, so `cur`, `rel` and `acq` travel as in \[RSAN25] Fig. 4. What an SC access or fence adds: the
//! next access `e` of a thread can't read a write, or come right after it, if a later write is before `e` in the partial
//! SC order `psc` of \[Lahav17]. So every SC event has a [`Cover`]: of each location, the newest write that this holds of. It is
//! the join of what the SC events right before it cover, and the fields below keep just that.

use super::super::{Look, Stale};
use super::state::{Clock, Write};
use seqcst_model::Mode;

/// What a downward closed set of SC events rules out: accesses after it can't read anything older.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cover {
    /// SC writes in the set, and writes that happen before a fence in it.
    pub written: Clock,
    /// The same, and writes read by what happens before a fence in it: an SC fence orders reads, an SC access doesn't.
    pub seen: Clock,
}

/// What is known by happens-before, and goes wherever that goes.
#[derive(Clone, Debug)]
struct Known {
    /// Writes that were read or made.
    seen: Clock,
    /// Writes that were made.
    written: Clock,
    /// SC fences that happen before this.
    fences: Cover,
    /// What an SC fence here would cover, but for `seen` and `written`.
    at_fence: Cover,
    /// SC events followed, elsewhere in their thread, by something that happens before this.
    elsewhere: Cover,
    /// SC accesses to each location that happen before this, and SC fences that happen before other accesses to it.
    here: Vec<Cover>,
}

#[derive(Clone, Debug)]
struct Thread {
    sc: Clock,
    cur: Known,
    rel: Known,
    acq: Known,
    /// The last SC event.
    last: Cover,
    /// The location of the last accesses, none after a fence; `last` and `cur.elsewhere` as they were before these.
    run: Option<usize>,
    last_before_run: Cover,
    elsewhere_before_run: Cover,
}

#[derive(Clone, Debug)]
struct Place {
    writes: Vec<Write>,
    write_sc: Clock,
    access_sc: Clock,
    message: Known,
    /// SC accesses, and SC fences that happen before any access;
    accesses: Cover,
    /// the fences alone, and those at the time of the last write;
    fences: Cover,
    fences_at_write: Cover,
    /// the last SC write, and whether another write came after it.
    last_sc_write: Cover,
    is_weak: bool,
}

/// A rule without which the monitor is wrong: a test leaves out one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// An SC read comes after the SC accesses to its location that happen before it.
    Here,
    /// Between SC events of different threads, happens-before begins and ends elsewhere,
    Elsewhere,
    /// it begins elsewhere: not at the location of the first,
    SendElsewhere,
    /// and it ends elsewhere: not at the location of the second.
    ReceiveElsewhere,
    /// A fence comes after the accesses that happen before it, and after what these come after,
    AtFence,
    /// at the location of a write,
    AtFenceWrites,
    /// or at the write that a read reads.
    AtFenceReads,
    /// A write that happens before a fence comes before what comes after the fence.
    FenceWrites,
    /// What happens before a fence has read counts for fences only.
    FenceReads,
    /// An SC access comes after fences that happen before it,
    Fences,
    /// but before its own synchronisation.
    FencesBefore,
    /// A write comes after all SC accesses to its location,
    Accesses,
    /// and after SC fences that happen before any access to it.
    FencesAccesses,
    /// SC fences that happen before an access come before SC reads of the location that the access happens before.
    FencesHere,
    /// Where the last write isn't SC, `here` says what comes before an SC read.
    WeakWrites,
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 15] = [
        Rule::Here,
        Rule::Elsewhere,
        Rule::SendElsewhere,
        Rule::ReceiveElsewhere,
        Rule::AtFence,
        Rule::AtFenceWrites,
        Rule::AtFenceReads,
        Rule::FenceWrites,
        Rule::FenceReads,
        Rule::Fences,
        Rule::FencesBefore,
        Rule::Accesses,
        Rule::FencesAccesses,
        Rule::FencesHere,
        Rule::WeakWrites,
    ];
}

/// The monitor: threads, locations and objects are numbered from 0.
#[derive(Clone, Debug)]
pub struct Rc11LocationClocks {
    threads: Vec<Thread>,
    places: Vec<Place>,
    /// What was released at objects other than atomics.
    objects: Vec<(Clock, Known)>,
    without: Option<Rule>,
}

impl Cover {
    fn nothing(locations: usize) -> Cover {
        Cover { written: Clock(vec![0; locations]), seen: Clock(vec![0; locations]) }
    }

    fn join(&mut self, other: &Cover) {
        self.written.join(&other.written);
        self.seen.join(&other.seen);
    }
}

impl Known {
    fn nothing(locations: usize) -> Known {
        let (clock, cover) = (Clock(vec![0; locations]), Cover::nothing(locations));
        Known {
            seen: clock.clone(),
            written: clock,
            fences: cover.clone(),
            at_fence: cover.clone(),
            elsewhere: cover.clone(),
            here: vec![cover; locations],
        }
    }

    fn join(&mut self, other: &Known) {
        self.seen.join(&other.seen);
        self.written.join(&other.written);
        self.fences.join(&other.fences);
        self.at_fence.join(&other.at_fence);
        self.elsewhere.join(&other.elsewhere);
        self.here.iter_mut().zip(&other.here).for_each(|(mine, theirs)| mine.join(theirs));
    }
}

impl Thread {
    /// What it can still pick up, and what it knows.
    fn present(&mut self) -> [&mut Known; 2] {
        [&mut self.cur, &mut self.acq]
    }

    /// The next event is an access to `x`, or a fence or the like.
    fn turn_to(&mut self, x: Option<usize>, without: Option<Rule>) {
        if x.is_none() || self.run != x {
            self.elsewhere_before_run = self.cur.elsewhere.clone();
            self.last_before_run = self.last.clone();
        }
        if without == Some(Rule::ReceiveElsewhere) {
            self.elsewhere_before_run = self.cur.elsewhere.clone();
        }
        if without == Some(Rule::SendElsewhere) {
            self.last_before_run = self.last.clone();
        }
        self.run = x;
    }

    /// What comes after this event, and not at its location, comes after the SC events before the run.
    fn turned(&mut self) {
        let before = self.last_before_run.clone();
        self.present().into_iter().for_each(|known| known.elsewhere.join(&before));
    }
}

impl Rc11LocationClocks {
    /// One thread, these locations, this many objects.
    pub fn new(initial: &[u64], objects: usize) -> Rc11LocationClocks {
        let locations = initial.len();
        let (clock, cover) = (Clock(vec![0; locations]), Cover::nothing(locations));
        let place = |&value: &u64| Place {
            writes: vec![Write { value, rmw: false }],
            write_sc: clock.clone(),
            access_sc: clock.clone(),
            message: Known::nothing(locations),
            accesses: cover.clone(),
            fences: cover.clone(),
            fences_at_write: cover.clone(),
            last_sc_write: cover.clone(),
            is_weak: false,
        };
        let mut clocks = Rc11LocationClocks {
            threads: Vec::new(),
            places: initial.iter().map(place).collect(),
            objects: vec![(clock.clone(), Known::nothing(locations)); objects],
            without: None,
        };
        clocks.appear();
        clocks
    }

    /// The same without one of the rules: wrong.
    pub fn without(self, rule: Rule) -> Rc11LocationClocks {
        Rc11LocationClocks { without: Some(rule), ..self }
    }

    fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// What the thread's last SC event covers.
    pub fn last_sc(&self, thread: usize) -> &Cover {
        &self.threads[thread].last
    }

    /// The newest write to `x` that the thread's next access, of this mode, can't miss.
    fn known(&self, thread: usize, x: usize, mode: Mode) -> usize {
        let Thread { cur, last, run, elsewhere_before_run, .. } = &self.threads[thread];
        let known = cur.seen.0[x].max(cur.fences.seen.0[x]);
        if mode != Mode::SeqCst {
            return known;
        }
        let elsewhere = if *run == Some(x) { elsewhere_before_run } else { &cur.elsewhere };
        let by_hb = if self.has(Rule::Elsewhere) { elsewhere.written.0[x] } else { 0 };
        known.max(last.written.0[x]).max(by_hb)
    }

    /// Could this access, about to be executed, do under RC11 what SC forbids? A compare-and-swap that fails has a mode of its
    /// own.
    pub fn stale(&self, thread: usize, x: usize, look: Look, mode: Mode, failure: Mode) -> Option<Stale> {
        if let Look::StrongCas(expected) = look {
            let ask = |look: Look, mode: Mode| self.stale(thread, x, look, mode, mode);
            return ask(Look::BlockingCas(expected), mode)
                .or_else(|| ask(Look::FailedCas(expected), failure));
        }
        let (known, missed) = (self.known(thread, x, mode), self.threads[thread].sc.0[x]);
        let writes = &self.places[x].writes;
        // Those that the thread may still read, or write after, though by `hbSC` there is a newer one.
        let mut stale = (known..missed).map(|t| (writes[t].value, writes[t + 1].rmw));
        let found = match look {
            Look::Load => stale.next().is_some(),
            Look::Wait(v) => stale.any(|(value, _)| value == v),
            Look::Store => stale.any(|(_, taken)| !taken),
            Look::FailedCas(expected) => stale.any(|(value, _)| value != expected),
            Look::BlockingCas(expected) | Look::StrongCas(expected) => {
                stale.any(|(value, taken)| value == expected && !taken)
            }
        };
        found.then_some(Stale { known: known as u32, missed: missed as u32 })
    }

    /// A load, a wait that was fulfilled, or a compare-and-swap that failed.
    pub fn load(&mut self, thread: usize, x: usize, mode: Mode) {
        let (views, place) = (&mut self.threads[thread], &mut self.places[x]);
        place.access_sc.join(&views.sc);
        views.sc.join(&place.write_sc);
        self.access(thread, x, mode, true, None);
    }

    /// A store.
    pub fn store(&mut self, thread: usize, x: usize, mode: Mode, value: u64) {
        self.write(thread, x, mode, Write { value, rmw: false });
    }

    /// A read-modify-write that wrote this value.
    pub fn rmw(&mut self, thread: usize, x: usize, mode: Mode, value: u64) {
        self.write(thread, x, mode, Write { value, rmw: true });
    }

    fn write(&mut self, thread: usize, x: usize, mode: Mode, write: Write) {
        let (views, place) = (&mut self.threads[thread], &mut self.places[x]);
        place.writes.push(write);
        views.sc.join(&place.access_sc);
        views.sc.learn(x, place.writes.len() - 1);
        (place.write_sc, place.access_sc) = (views.sc.clone(), views.sc.clone());
        self.access(thread, x, mode, write.rmw, Some(write));
    }

    fn access(&mut self, thread: usize, x: usize, mode: Mode, reads: bool, write: Option<Write>) {
        let without = self.without;
        let has = |rule: Rule| without != Some(rule);
        let (views, place) = (&mut self.threads[thread], &mut self.places[x]);
        let (is_sc, writes, last) = (mode == Mode::SeqCst, write.is_some(), place.writes.len() - 1);
        views.turn_to(Some(x), without);

        // The SC events before this one, by program order and happens-before: before it synchronises itself.
        let mut before = views.last.clone();
        if has(Rule::Elsewhere) {
            before.join(&views.elsewhere_before_run);
        }
        if has(Rule::Fences) {
            before.join(&views.cur.fences);
        }

        // Happens-before.
        if reads {
            views.acq.join(&place.message);
            if mode.is_acquire() {
                views.cur.join(&place.message);
            }
        }
        for known in views.present() {
            known.seen.learn(x, last);
            if writes {
                known.written.learn(x, last);
            }
        }
        if !has(Rule::FencesBefore) {
            before.join(&views.cur.fences);
        }

        // The SC events before this one, by this location.
        if writes {
            if has(Rule::Accesses) {
                before.join(&place.accesses);
            }
            if is_sc {
                before.written.learn(x, last);
                before.seen.learn(x, last);
            }
        } else if has(Rule::Here) {
            if !place.is_weak {
                before.join(&place.last_sc_write);
            } else if has(Rule::WeakWrites) {
                before.join(&views.cur.here[x]);
            }
        }

        // What SC fences after this one come after.
        let (by_write, by_read) = (has(Rule::AtFenceWrites), has(Rule::AtFenceReads));
        for known in views.present() {
            if has(Rule::AtFence) && writes && by_write {
                known.at_fence.join(&place.accesses);
            } else if has(Rule::AtFence) && !writes && by_read {
                known.at_fence.join(&place.fences_at_write);
            }
        }

        // What the location keeps.
        let fences = views.cur.fences.clone();
        place.fences.join(&fences);
        if has(Rule::FencesAccesses) {
            place.accesses.join(&fences);
        }
        if is_sc {
            views.last = before.clone();
            place.accesses.join(&before);
        }
        if writes {
            place.fences_at_write = place.fences.clone();
            place.is_weak = !is_sc;
            if is_sc {
                place.last_sc_write = before.clone();
            }
        }

        // What happens-before hands on.
        for known in views.present() {
            if has(Rule::FencesHere) {
                known.here[x].join(&fences);
            }
            if is_sc {
                known.here[x].join(&before);
            }
        }
        views.turned();
        if let Some(Write { rmw, .. }) = write {
            let source = if mode.is_release() { &views.cur } else { &views.rel };
            // A release sequence goes on through read-modify-writes.
            if rmw {
                place.message.join(source);
            } else {
                place.message = source.clone();
            }
        }
    }

    /// A plain access, to something that no atomic access touches.
    pub fn plain(&mut self, thread: usize) {
        self.threads[thread].turn_to(None, self.without);
        self.threads[thread].turned();
    }

    /// A fence.
    pub fn fence(&mut self, thread: usize, mode: Mode) {
        let without = self.without;
        let has = |rule: Rule| without != Some(rule);
        let views = &mut self.threads[thread];
        views.turn_to(None, without);
        if mode.is_acquire() {
            views.cur = views.acq.clone();
        }
        views.turned();
        if mode == Mode::SeqCst {
            let mut before = if has(Rule::AtFence) { views.cur.at_fence.clone() } else { views.last.clone() };
            let reads = !has(Rule::FenceReads);
            if has(Rule::FenceWrites) {
                before.written.join(if reads { &views.cur.seen } else { &views.cur.written });
            }
            before.seen.join(&views.cur.seen);
            for known in views.present() {
                known.fences.join(&before);
                known.at_fence.join(&before);
            }
            views.last = before;
        }
        if mode.is_release() {
            views.rel = views.cur.clone();
        }
    }

    /// The thread creates another one, which gets the next number.
    pub fn create(&mut self, thread: usize) {
        let (sc, known) = self.hand_on(thread);
        self.appear();
        self.learn(self.threads.len() - 1, &sc, &known);
    }

    /// There is one more thread that knows nothing.
    pub fn appear(&mut self) {
        let locations = self.places.len();
        let (known, cover) = (Known::nothing(locations), Cover::nothing(locations));
        self.threads.push(Thread {
            sc: Clock(vec![0; locations]),
            cur: known.clone(),
            rel: known.clone(),
            acq: known,
            last: cover.clone(),
            run: None,
            last_before_run: cover.clone(),
            elsewhere_before_run: cover,
        });
    }

    /// The thread waits for the end of another one.
    pub fn join(&mut self, thread: usize, ended: usize) {
        let (sc, known) = self.hand_on(ended);
        self.learn(thread, &sc, &known);
    }

    /// The thread learns what was released at the object, as by locking a mutex.
    pub fn acquire(&mut self, thread: usize, object: usize) {
        let (sc, known) = self.objects[object].clone();
        self.learn(thread, &sc, &known);
    }

    /// The thread adds what it knows to what is known at the object, as by unlocking a mutex.
    pub fn release(&mut self, thread: usize, object: usize) {
        let (sc, known) = self.hand_on(thread);
        let object = &mut self.objects[object];
        object.0.join(&sc);
        object.1.join(&known);
    }

    /// What is handed on by a release write to a location that nobody else uses.
    fn hand_on(&mut self, thread: usize) -> (Clock, Known) {
        self.plain(thread);
        (self.threads[thread].sc.clone(), self.threads[thread].cur.clone())
    }

    /// An acquire read of such a location.
    fn learn(&mut self, thread: usize, sc: &Clock, known: &Known) {
        let views = &mut self.threads[thread];
        views.turn_to(None, self.without);
        views.sc.join(sc);
        views.present().into_iter().for_each(|mine| mine.join(known));
        self.threads[thread].turned();
    }
}

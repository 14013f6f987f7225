//! What a thread knows of SC events, and how accesses, fences and synchronisation change it.

use super::cover::{Cover, Known};
use super::place::Place;
use crate::clocks::{Clock, Slot, Time};
use seqcst_model::Mode;

/// A thread's part. While no relaxed load has brought news that an acquire fence could pick up, `acq` equals `cur` and
/// isn't kept (`ahead` is false).
#[derive(Clone, Default, Debug)]
pub struct Thread {
    /// It comes after some SC event, by happens-before or by itself.
    active: bool,
    cur: Known,
    rel: Known,
    acq: Known,
    ahead: bool,
    /// The last SC event.
    last: Cover,
    /// Whether `elsewhere` has all of `last` already.
    told: bool,
    /// The location of the last accesses, where all events are told; none after a fence, a plain access and the like.
    run: Option<u32>,
    /// Whether `elsewhere` has all of `last_before_run` already.
    run_told: bool,
    /// `last` and `cur.elsewhere` as they were before these.
    last_before_run: Cover,
    elsewhere_before_run: Cover,
}

/// An access that was made.
#[derive(Clone, Copy)]
pub struct Access {
    pub slot: Slot,
    pub time: Time,
    pub mode: Mode,
    pub reads: bool,
    /// What it reads has a message that the thread has not taken before.
    pub takes: bool,
    pub writes: bool,
    /// The location's number, where all events are told.
    pub number: Option<u32>,
}

impl Thread {
    /// Knows of no SC event any more; keeps its memory.
    pub fn renew(&mut self) {
        if self.active {
            for known in [&mut self.cur, &mut self.rel, &mut self.acq] {
                known.clear();
            }
            for cover in [&mut self.last, &mut self.last_before_run, &mut self.elsewhere_before_run] {
                cover.clear();
            }
        }
        (self.active, self.ahead, self.told, self.run_told, self.run) = (false, false, false, false, None);
    }

    /// Makes `child` a thread created by this one.
    pub fn renew_child(&mut self, child: &mut Thread) {
        child.renew();
        if self.active {
            self.turn(None);
            child.cur.copy(&self.cur);
            child.active = true;
        }
    }

    /// Learns all that an ended thread knew.
    pub fn join(&mut self, ended: &Thread) {
        if ended.active {
            let mut handed_on = ended.cur.clone();
            handed_on.elsewhere.join(&ended.last);
            self.acquire(&handed_on);
        }
    }

    /// Acquires a synchronisation object.
    pub fn acquire(&mut self, from: &Known) {
        if self.active || !from.is_nothing() {
            self.active = true;
            self.turn(None);
            self.each(|known| known.join(from));
        }
    }

    /// Releases a synchronisation object.
    pub fn release(&mut self, into: &mut Known) {
        if self.active {
            self.turn(None);
            into.join(&self.cur);
        }
    }

    /// A plain access.
    pub fn plain(&mut self) {
        if self.active {
            self.turn(None);
        }
    }

    /// Whether SC events don't matter to an access at this place.
    #[inline]
    pub fn is_idle(&self, place: Option<&Place>, mode: Mode) -> bool {
        !self.active && place.is_none() && mode != Mode::SeqCst
    }

    /// Whether an access of this mode can be kept from stale writes by SC events.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// What an access may not miss because of SC events: writes made by the events of the first clock if they are SC, and what
    /// was read or made by those of the second.
    pub fn fences_before(&self) -> &Cover {
        &self.cur.fences
    }

    /// What an SC access to this location may not miss besides: SC writes in one of the covers, and writes made by what
    /// happens before their fences.
    pub fn before_sc(&self, number: Option<u32>) -> [&Cover; 2] {
        let in_run = number.is_some() && self.run == number;
        [&self.last, if in_run { &self.elsewhere_before_run } else { &self.cur.elsewhere }]
    }

    fn each(&mut self, change: impl Fn(&mut Known)) {
        change(&mut self.cur);
        if self.ahead {
            change(&mut self.acq);
        }
    }

    /// The next event is an access to the location of this number, or none.
    #[inline]
    fn turn(&mut self, number: Option<u32>) {
        if number.is_none() {
            self.run = None;
            self.tell();
        } else if self.run != number {
            self.last_before_run.copy(&self.last);
            self.elsewhere_before_run.copy(&self.cur.elsewhere);
            (self.run, self.run_told) = (number, false);
        }
    }

    /// What comes next is elsewhere: after the last SC event.
    #[inline]
    fn tell(&mut self) {
        if !self.told {
            self.cur.elsewhere.join(&self.last);
            if self.ahead {
                self.acq.elsewhere.join(&self.last);
            }
            self.told = true;
        }
    }

    /// An access; `hb` is what happens before it and what it acquires. Not for idle ones.
    pub fn access(&mut self, place: &mut Place, access: Access, hb: &Clock) {
        let Access { slot, time, mode, reads, takes, writes, number } = access;
        let is_sc = mode == Mode::SeqCst;
        self.active |= is_sc;
        if self.active {
            self.turn(number);
        }

        // The SC events before this one, by program order and happens-before: before it synchronises itself.
        if is_sc {
            let elsewhere = if number.is_some() { &self.elsewhere_before_run } else { &self.cur.elsewhere };
            self.last.join(elsewhere);
            self.last.join(&self.cur.fences);
        }

        // Happens-before.
        if takes {
            self.take(&place.message, mode.is_acquire());
        }

        // The SC events before this one, by this location.
        if is_sc && writes {
            self.last.join(&place.accesses);
        } else if is_sc && !place.is_weak {
            self.last.join(&place.last_sc_write);
        } else if is_sc && number.is_some() {
            self.last.join(&place.here(hb));
        } else if is_sc {
            self.last.join(&place.accesses);
        }
        if is_sc {
            self.last.add(slot, time);
        }

        // What SC fences after this one come after.
        let by_place = if writes { &place.accesses } else { &place.fences_at_write };
        if !by_place.is_nothing() {
            self.active = true;
            self.each(|known| known.at_fence.join(by_place));
        }

        // What the location keeps.
        place.fences.join(&self.cur.fences);
        place.accesses.join(&self.cur.fences);
        if is_sc {
            place.accesses.join(&self.last);
        }
        if writes {
            place.fences_at_write.copy(&place.fences);
            place.is_weak = !is_sc;
            if is_sc {
                place.last_sc_write.copy(&self.last);
            }
        }
        if number.is_some() {
            place.note(slot, time, &self.cur.fences, is_sc.then_some(&self.last));
        }

        // What happens-before hands on.
        if number.is_some() && !self.run_told {
            let Thread { cur, acq, ahead, last_before_run, .. } = self;
            cur.elsewhere.join(last_before_run);
            if *ahead {
                acq.elsewhere.join(last_before_run);
            }
            self.run_told = true;
        }
        self.told &= !is_sc;
        if writes {
            let source = if mode.is_release() { &self.cur } else { &self.rel };
            // A release sequence goes on through read-modify-writes.
            match reads {
                true => place.message.join(source),
                false => place.message.copy(source),
            }
        }
    }

    /// Takes a message that was read: into `cur` if the access acquires, else for an acquire fence to come.
    fn take(&mut self, message: &Known, acquire: bool) {
        if message.is_nothing() {
            return;
        }
        self.active = true;
        if acquire {
            self.each(|known| known.join(message));
        } else if self.ahead {
            self.acq.join(message);
        } else if !self.cur.covers(message) {
            self.acq.copy(&self.cur);
            self.acq.join(message);
            self.ahead = true;
        }
    }

    /// A fence; `hb` is what happens before it, what it acquires included.
    pub fn fence(&mut self, mode: Mode, (slot, time): (Slot, Time), hb: &Clock) {
        self.active |= mode == Mode::SeqCst;
        if !self.active {
            return;
        }
        if mode.is_acquire() && self.ahead {
            std::mem::swap(&mut self.cur, &mut self.acq);
            self.ahead = false;
            self.told = false;
        }
        self.turn(None);
        if mode == Mode::SeqCst {
            let Thread { cur, acq, ahead, last, .. } = self;
            last.copy(&cur.at_fence);
            last.add(slot, time);
            last.before_fences.join(hb);
            for known in [Some(cur), ahead.then_some(acq)].into_iter().flatten() {
                known.fences.join(last);
                known.at_fence.join(last);
            }
            self.told = false;
        }
        if mode.is_release() {
            self.rel.copy(&self.cur);
        }
    }

    /// The location is touched by code that nobody sees: all SC events that came by may come before this one.
    pub fn blur(&mut self, place: &mut Place) {
        self.active = true;
        self.turn(None);
        for all in [&place.accesses, &place.message.elsewhere, &place.message.fences, &place.message.at_fence]
        {
            self.last.join(all);
            self.each(|known| {
                known.fences.join(all);
                known.at_fence.join(all);
                known.elsewhere.join(all);
            });
        }
        place.accesses.join(&self.last);
        place.accesses.join(&self.cur.fences);
        place.accesses.join(&self.cur.elsewhere);
        place.message.join(&self.cur);
        self.told = false;
    }
}

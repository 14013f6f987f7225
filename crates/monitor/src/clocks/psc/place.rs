//! What a location remembers of SC events.

use super::cover::{Cover, Known};
use crate::clocks::{Clock, Slot, Time};

/// A location that SC events came to.
#[derive(Clone, Default, Debug)]
pub struct Place {
    /// What the last write hands on.
    pub message: Known,
    /// SC accesses, and SC fences that happen before any access;
    pub accesses: Cover,
    /// the fences alone, and those at the time of the last write;
    pub fences: Cover,
    pub fences_at_write: Cover,
    /// the last SC write, and whether another write came after it.
    pub last_sc_write: Cover,
    pub is_weak: bool,
    /// For each thread, where all events are told: its SC accesses so far and SC fences that happen before its accesses.
    here: Vec<(Slot, Vec<(Time, Cover)>)>,
}

impl Place {
    pub fn renew(&mut self) {
        self.message.clear();
        for cover in
            [&mut self.accesses, &mut self.fences, &mut self.fences_at_write, &mut self.last_sc_write]
        {
            cover.clear();
        }
        self.is_weak = false;
        self.here.clear();
    }

    /// The SC accesses here that happen before, and the SC fences that happen before accesses which do.
    pub fn here(&self, hb: &Clock) -> Cover {
        let mut cover = Cover::new();
        for (slot, past) in &self.here {
            let until = past.partition_point(|(time, _)| *time <= hb.get(*slot));
            if let Some((_, known)) = until.checked_sub(1).and_then(|last| past.get(last)) {
                cover.join(known);
            }
        }
        cover
    }

    /// The thread made an access, after SC fences, or an SC access that came after others.
    pub fn note(&mut self, slot: Slot, time: Time, fences: &Cover, before: Option<&Cover>) {
        let at = self.here.iter().position(|(other, _)| *other == slot).unwrap_or_else(|| {
            self.here.push((slot, Vec::new()));
            self.here.len() - 1
        });
        let past = &mut self.here[at].1;
        let is_known = |news: &Cover| past.last().is_some_and(|(_, known)| known.covers(news));
        if (fences.is_nothing() || is_known(fences)) && before.is_none_or(is_known) {
            return;
        }
        let mut cover = past.last().map(|(_, cover)| cover.clone()).unwrap_or_default();
        cover.join(fences);
        before.into_iter().for_each(|before| cover.join(before));
        past.push((time, cover));
    }
}

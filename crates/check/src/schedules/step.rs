//! One step of a thread: what it does, which way it takes, and what that means to others.

use super::places::NextPlace;
use super::spin::SpinState;
use super::{At, ProgramSource, note, object};
use crate::states;
use seqcst_explore::{self as schedule, AccessType, Found, Kind, Op, Trace};
use seqcst_model::{Action, Op as Access, Outcome};
use std::rc::Rc;

impl ProgramSource<'_> {
    /// One step of a thread that can run.
    pub(super) fn step(&mut self, thread: usize, trace: &mut Trace, outcome: &mut schedule::Outcome) {
        let id = thread as schedule::ThreadId;
        let At::Place(place) = self.threads[thread].at else {
            let starts = self.places.starts(thread);
            let way = self.player.choose(starts.len() as u32) as usize;
            self.player.did(id, Op::local(Kind::Local), 0, None, trace);
            self.log.starts[thread] = way;
            self.arrive(thread, &starts[way], outcome);
            self.refresh(thread, trace);
            return;
        };
        let Some(action) = self.places.get(place).action.clone() else { return };
        let (did, ways, way, chose) = self.choose(place, &action);
        let op = self.op(&action, did);
        let woken_by = self.threads[thread].woken_by.take();
        let now = trace.steps.len() as u32;
        self.player.did(id, op, u64::from(action.site), woken_by, trace);
        if self.options.races
            && let Some(other) = self.plain.race(thread, &action, did, &self.watch)
        {
            note(outcome, Found::Race(u64::from(other), u64::from(action.site)));
            self.log.found.push((self.log.steps.len(), states::Violation::Race { thread }));
        }
        self.watch.did(thread, &action, did);
        self.log.steps.push(states::Step { thread, outcome: did, choice: way });
        if !self.writes(thread, &action, did, now, trace) && self.places.has_loops(thread) {
            let version = self.versions[action.loc.index()].0;
            let wrote = did.value_written().is_some();
            self.threads[thread].trail.note(place, action.loc, version, chose, wrote);
        }
        self.arrive(thread, &ways[way], outcome);
        if self.places.has_loops(thread)
            && let At::Place(place) = self.threads[thread].at
        {
            let versions = &self.versions;
            let circle = self.threads[thread].trail.closes(place, |loc| versions[loc.index()].0);
            self.threads[thread].spins = circle == SpinState::Closed;
            // As if it had waited for the change: it goes on because of that.
            if let SpinState::Changed(loc) = circle {
                self.threads[thread].woken_by = Some(self.versions[loc.index()].1);
            }
        }
        self.refresh(thread, trace);
    }

    /// What the access comes to, the ways on, which of them is taken, and whether there was a choice.
    fn choose(&mut self, place: u32, action: &Action) -> (Outcome, Rc<[NextPlace]>, usize, bool) {
        let found = self.memory[action.loc.index()];
        let mut outcomes = action.outcomes(found);
        let first = outcomes.next().unwrap_or(Outcome::Fenced);
        let ways = self.places.after(place, first);
        let second = outcomes.next().map(|second| (second, self.places.after(place, second)));
        let many = ways.len() + second.as_ref().map_or(0, |(_, ways)| ways.len());
        if many <= 1 {
            return (first, ways, 0, false);
        }
        let chosen = self.player.choose(many as u32) as usize;
        match second {
            Some((second, others)) if chosen >= ways.len() => {
                let way = chosen - ways.len();
                (second, others, way, true)
            }
            _ => (first, ways, chosen, true),
        }
    }

    pub(super) fn op(&self, action: &Action, did: Outcome) -> Op {
        let how = if did.value_written().is_some() { AccessType::Write } else { AccessType::Read };
        let object = object(self.machine.code(), action.loc);
        let kind = match (&action.op, how) {
            (Access::Wait(_) | Access::BlockingCas { .. }, _) => Kind::Await,
            _ if object == schedule::FENCES => Kind::Fence,
            (Access::Store(_), _) => Kind::Store,
            (_, AccessType::Write) => Kind::Rmw,
            _ => Kind::Load,
        };
        Op::new(kind, how, object)
    }

    /// Memory after the access, and what that means to others. False if nothing has changed: who writes what was there
    /// already, in a read-modify-write, only looks.
    fn writes(&mut self, thread: usize, action: &Action, did: Outcome, now: u32, trace: &mut Trace) -> bool {
        let loc = action.loc;
        let Some(value) = did.value_written().filter(|&value| did.value_read() != Some(value)) else {
            return false;
        };
        self.memory[loc.index()] = value;
        self.versions[loc.index()] = (self.versions[loc.index()].0 + 1, now);
        self.threads[thread].trail.clear();
        for other in (0..self.threads.len()).filter(|&other| other != thread) {
            if self.threads[other].spins && self.threads[other].trail.watched.contains(&loc) {
                self.threads[other].trail.clear();
                (self.threads[other].spins, self.threads[other].woken_by) = (false, Some(now));
                self.refresh(other, trace);
            } else if self.action(other).is_some_and(|next| next.loc == loc) {
                self.refresh(other, trace);
            }
        }
        true
    }
}

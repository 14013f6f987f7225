//! Races between non-atomic accesses: by RC20's happens-before, or, for other models, two that can come one right after
//! the other.

use super::watch::Watch;
use seqcst_model::{Action, Mode, Outcome};
use seqcst_program::code::Code;

/// Watches non-atomic accesses.
#[derive(Debug, Default)]
pub struct Plain {
    /// For each non-atomic location the accesses so far, the last of each kind by each thread.
    accesses: Vec<Vec<Access>>,
    /// What comes before the next step of each thread, and what each location hands on: the order of all steps that
    /// conflict. Not kept under RC20.
    threads: Vec<Vec<u32>>,
    wrote: Vec<Vec<u32>>,
    touched: Vec<Vec<u32>>,
    time: u32,
    by_order: bool,
    on: bool,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    thread: usize,
    time: u32,
    write: bool,
    site: u32,
}

impl Plain {
    /// At the start of an execution.
    pub fn reset(&mut self, code: &Code) {
        let (threads, locations) = (code.threads.len(), code.locations.len());
        self.on = code.locations.iter().any(|location| location.non_atomic);
        if !self.on {
            return;
        }
        self.accesses.iter_mut().for_each(Vec::clear);
        self.accesses.resize(locations, Vec::new());
        self.by_order = !code.model.has_races();
        self.time = 0;
        for clocks in [&mut self.wrote, &mut self.touched, &mut self.threads] {
            clocks.clear();
        }
        if self.by_order {
            self.wrote.resize(locations, vec![0; threads]);
            self.touched.resize(locations, vec![0; threads]);
            self.threads.resize(threads, vec![0; threads]);
        }
    }

    /// The thread makes this access: the site of one that it races with, if there is one. To be called before the monitor
    /// hears of it.
    pub fn race(&mut self, thread: usize, action: &Action, outcome: Outcome, watch: &Watch) -> Option<u32> {
        if !self.on {
            return None;
        }
        let (at, write) = (action.loc.index(), outcome.value_written().is_some());
        let mut racing = None;
        if action.mode == Mode::NonAtomic {
            let hb = watch.hb(thread).filter(|_| !self.by_order);
            let time = hb.map_or(self.time + 1, |hb| hb.epoch());
            let knows = |other: &Access| match (self.by_order, hb) {
                (true, _) => self.threads[thread][other.thread] >= other.time,
                (false, Some(hb)) => hb.cur().get(other.thread as u16) >= other.time,
                (false, None) => true,
            };
            let races = |other: &&Access| other.thread != thread && (write || other.write) && !knows(other);
            racing = self.accesses[at].iter().find(races).map(|other| other.site);
            self.accesses[at].retain(|other| other.thread != thread || other.write != write);
            self.accesses[at].push(Access { thread, time, write, site: action.site });
        }
        if self.by_order {
            self.pass(thread, at, write);
        }
        racing
    }

    fn pass(&mut self, thread: usize, at: usize, write: bool) {
        self.time += 1;
        let clock = &mut self.threads[thread];
        join(clock, if write { &self.touched[at] } else { &self.wrote[at] });
        clock[thread] = self.time;
        join(&mut self.touched[at], clock);
        if write {
            self.wrote[at].clone_from(clock);
        }
    }
}

fn join(into: &mut [u32], other: &[u32]) {
    into.iter_mut().zip(other).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
}

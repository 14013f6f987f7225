//! How executions end: all threads do, or nobody can go on, or it is given up.

use super::note::Dead;
use super::wait::Wait;
use super::world::{Way, World};
use seqcst_explore::{End, Failure, Plan, State, ThreadId, Trace, Waiting};

/// So often spinning threads go on when nobody else can before this is called a livelock.
const SPINNING_ROUNDS: u32 = 1000;

impl World {
    /// Nobody can run. If some spin, they go on: perhaps they count.
    pub fn go_on_spinning(&mut self) -> bool {
        let mut some = false;
        self.rounds += 1;
        if self.rounds > SPINNING_ROUNDS {
            return false;
        }
        for thread in 0..self.threads {
            let task = &mut self.tasks[thread as usize];
            if task.wait == Wait::Spin {
                some = true;
                task.wait = Wait::Nothing;
                task.spin.forget();
                self.waiting -= 1;
                self.player.set(thread, State::Ready, &mut self.trace);
            }
        }
        self.went_on += u64::from(some && self.way == Way::Planned);
        some
    }

    /// Does anybody spin?
    pub fn somebody_spins(&self) -> bool {
        self.tasks[..self.threads as usize].iter().any(|task| task.wait == Wait::Spin)
    }

    /// What those would do next who are left and can't go on.
    fn note_waiting(&mut self) {
        for thread in 0..self.threads {
            let task = &self.tasks[thread as usize];
            if !task.ended && self.player.state(thread) == State::Blocked {
                let ((op, site), spins) = (task.next, u32::from(task.wait == Wait::Spin));
                self.trace.waiting.push(Waiting { op, site: u64::from(site), thread, spins });
            }
        }
    }

    /// All that can come was seen: from here on nothing is watched or written down.
    pub fn finish_unwatched(&mut self) {
        self.note_waiting();
        self.way = Way::Unwatched;
        self.watch.on = false;
        self.trace.end = End::Redundant;
        self.seen = Some(std::mem::take(&mut self.trace));
        self.player.start(&Plan::default());
        for thread in 0..self.threads {
            let ended = self.tasks[thread as usize].ended;
            let state = if ended { State::Blocked } else { self.state_of(thread) };
            self.player.set(thread, state, &mut self.trace);
        }
    }

    /// Ends the execution like this; what is on the stacks is dropped.
    pub fn give_up(&mut self, end: End) {
        if self.way == Way::Planned {
            self.trace.end = end;
            self.note_waiting();
        }
        self.way = Way::Aborted;
    }

    /// The program failed.
    pub fn fail(&mut self, failure: Failure) {
        if self.way == Way::Planned && self.failure.is_none() {
            self.failure = Some(failure);
        }
        self.way = Way::Aborted;
    }

    /// Takes who panicked, and how.
    pub fn deaths(&mut self) -> Vec<(ThreadId, Dead)> {
        std::mem::take(&mut self.dead)
    }

    /// The trace of the execution.
    pub fn take_trace(&mut self) -> Trace {
        self.seen.take().unwrap_or_else(|| std::mem::take(&mut self.trace))
    }
}

//! What to do in one execution: the beginning of a tape, and how to go on after it.

use crate::{Op, ThreadId};

/// On a tape, this bit tells the number of a choice ([`crate::Player::choose`]) from the number of a thread.
pub const CHOICE: ThreadId = 1 << 31;

/// A plan for one execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Whose turn it is at the first steps, and which choices they make.
    pub tape: Vec<ThreadId>,
    /// How to go on after that.
    pub then: Fallback,
    /// Threads not to be woken, each with what it would do next: as long as nobody does something that conflicts with it,
    /// what comes of running it has been seen. True just before the tape's last turn (at the beginning if it is empty).
    pub asleep: Vec<(ThreadId, Op)>,
    /// The tape is a suggestion: a turn of a thread that can't run is left out.
    pub lenient: bool,
}

/// How to go on after the end of the tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fallback {
    /// Let the same thread go on as long as it can, then the next one.
    #[default]
    NonPreemptive,
    /// Pick a thread at random at every step.
    Random {
        /// Of the random numbers.
        seed: u64,
    },
    /// Probabilistic concurrency testing (Burckhardt et al. 2010): random priorities, lowered at `depth - 1` random steps
    /// out of `length`.
    Pct {
        /// Of the random numbers.
        seed: u64,
        /// How many ordering constraints a bug may need.
        depth: u32,
        /// How many steps an execution has.
        length: u32,
    },
}

impl Plan {
    /// Makes it the plan that leaves everything to `then`.
    pub fn reset(&mut self, then: Fallback) {
        self.tape.clear();
        self.asleep.clear();
        self.then = then;
        self.lenient = false;
    }

    /// Makes it the plan that plays this tape and then goes on steadily.
    pub fn replay(&mut self, tape: impl IntoIterator<Item = ThreadId>) {
        self.reset(Fallback::NonPreemptive);
        self.tape.extend(tape);
    }
}

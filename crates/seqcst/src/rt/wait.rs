//! What threads wait for, and whether they have to.

use super::world::World;
use seqcst_explore::{State, ThreadId};

/// What has to be so before a thread's next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wait {
    /// Nothing: the step can always be taken.
    #[default]
    Nothing,
    /// Nothing, but others may go first.
    Offer,
    /// Nobody holds the lock.
    Free(u32),
    /// The same, but others may go first: the thread has looked in vain before.
    Polled(u32),
    /// Nobody holds the lock to write.
    Shared(u32),
    /// The thread has ended.
    Ended(ThreadId),
    /// This thread has been given a token. True: or its time is up.
    Token(bool),
    /// Somebody signalled the condition variable since the ticket was drawn, and the lock is free.
    Signal {
        /// The condition variable.
        condvar: u32,
        /// When the wait began.
        ticket: u64,
        /// The lock.
        lock: u32,
        /// Its time can be up.
        timed: bool,
    },
    /// Something is in the channel, or nobody can send any more. True: or its time is up.
    Filled(u32, bool),
    /// There is room in the channel, or nobody can receive any more.
    Room(u32),
    /// Somebody waits to receive, or nobody can receive any more (a channel without room).
    Taken(u32, u64),
    /// The barrier has let this round pass.
    Passed(u32, u32),
    /// One of the locations that the thread has read in its loop has changed.
    Spin,
}

impl World {
    /// Whether a thread can take its next step.
    pub fn can(&mut self, thread: ThreadId) -> bool {
        match self.tasks[thread as usize].wait {
            Wait::Nothing | Wait::Offer => true,
            Wait::Free(lock) | Wait::Polled(lock) => self.locks.get(lock).is_free(),
            Wait::Shared(lock) => self.locks.get(lock).writer.is_none(),
            Wait::Ended(other) => self.tasks[other as usize].ended,
            Wait::Token(_) => self.tasks[thread as usize].token,
            Wait::Signal { condvar, ticket, lock, .. } => {
                self.condvars.get(condvar).is_signalled(ticket) && self.locks.get(lock).is_free()
            }
            Wait::Filled(channel, _) => self.channels.get(channel).can_receive(),
            Wait::Room(channel) => self.channels.get(channel).can_send(),
            Wait::Taken(channel, number) => self.channels.get(channel).was_taken(number),
            Wait::Passed(barrier, round) => self.barriers.get(barrier).round != round,
            Wait::Spin => {
                let atomics = &mut self.atomics;
                self.tasks[thread as usize]
                    .spin
                    .reads()
                    .any(|(atomic, version)| atomics.get(atomic).version != version)
            }
        }
    }

    /// What a thread can do now.
    pub fn state_of(&mut self, thread: ThreadId) -> State {
        let can = self.can(thread);
        match self.tasks[thread as usize].wait {
            Wait::Offer => State::Willing,
            Wait::Polled(_) if can => State::Willing,
            Wait::Signal { timed: true, lock, .. } if !can && self.locks.get(lock).is_free() => {
                State::Willing
            }
            Wait::Token(true) | Wait::Filled(_, true) if !can => State::Willing,
            _ if can => State::Ready,
            _ => State::Blocked,
        }
    }
}

//! Who waits for what, and who needn't any more.

use super::Scheduler;
use crate::control::registers;
use crate::control::spin::Arrival;
use seqcst_explore::{AccessType, FENCES, Kind, NOBODY, Op, State, ThreadId};

/// What a thread waits for.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    Nothing,
    /// Until `can` is true, which may change when the object does. `timed`: or until time is up. `offers`: even then others
    /// may go first.
    Until {
        object: u64,
        can: *const dyn Fn() -> bool,
        timed: bool,
        offers: bool,
    },
    /// It goes round in circles.
    Spin,
}

/// Is it perhaps no longer the same for those who wait? Readers that come to a lock and leave it change it for writers.
fn changes(kind: Kind, how: AccessType) -> bool {
    how == AccessType::Write || matches!(kind, Kind::Lock | Kind::TryLock | Kind::Unlock)
}

impl Scheduler {
    /// The step that changed the object last.
    #[inline]
    pub(super) fn version(&self, object: u64) -> u32 {
        self.versions.get(&(object as usize)).copied().unwrap_or(NOBODY)
    }

    /// Step `number` changed something.
    #[inline]
    pub(super) fn note_changes(&mut self, op: &Op, number: u32) {
        for (object, how) in op.touches() {
            if changes(op.kind, how) && object != FENCES {
                self.versions.insert(object as usize, number);
            }
        }
    }

    /// Does it perhaps change what somebody waits for?
    #[inline]
    pub(super) fn is_wanted(&self, op: &Op) -> bool {
        op.touches().any(|(object, how)| changes(op.kind, how) && self.wanted & bit(object) != 0)
    }

    /// The running thread waits for one of these objects.
    pub(super) fn want(&mut self, objects: impl IntoIterator<Item = u64>) {
        let bits = objects.into_iter().fold(0, |bits, object| bits | bit(object));
        self.wanted = bits | if self.waiting == 0 { 0 } else { self.wanted };
        self.waiting += 1;
    }

    /// Does somebody else wait for this object?
    pub fn is_waited_for(&self, wanted: u64) -> bool {
        let others = self.threads.iter().enumerate().filter(|&(index, _)| index != self.me);
        others
            .filter(|(_, thread)| !thread.ended)
            .any(|(_, thread)| matches!(thread.wait, Wait::Until { object, .. } if object == wanted))
    }

    /// How does the running thread arrive at a step that may only read? The step returns to `pc`.
    #[inline]
    pub(super) fn arrives(&mut self, pc: usize) -> Arrival {
        let Some(registers) = registers::take(pc) else { return Arrival::New };
        let version = |object: u64| self.versions.get(&(object as usize)).copied().unwrap_or(NOBODY);
        self.threads[self.me].spin.arrives(registers, version)
    }

    /// The running thread goes round in circles.
    #[cold]
    pub(super) fn wait_for_changes(&mut self) {
        let objects: Vec<u64> = self.spin().objects().collect();
        self.want(objects);
        self.threads[self.me].wait = Wait::Spin;
    }

    /// Step `number` changed something: those who wait for it are looked at again.
    #[cold]
    pub(super) fn tell(&mut self, op: Op, number: u32) {
        for (object, how) in op.touches() {
            if !changes(op.kind, how) {
                continue;
            }
            for index in 0..self.threads.len() {
                let thread = &mut self.threads[index];
                match thread.wait {
                    Wait::Spin if thread.spin.reads(object) && thread.woken_by == NOBODY => {
                        thread.woken_by = number;
                        self.player.set(index as ThreadId, State::Ready, &mut self.log);
                    }
                    Wait::Until { object: other, .. } if other == object => self.look_at(index),
                    _ => {}
                }
            }
        }
    }

    /// Those who wait for the object are looked at again.
    pub fn changed(&mut self, object: u64) {
        if self.waiting == 0 {
            return;
        }
        for index in 0..self.threads.len() {
            if let Wait::Until { object: other, .. } = self.threads[index].wait
                && other == object
            {
                self.look_at(index);
            }
        }
    }

    /// A signal has come for the thread, by the running one's step: if it goes round in circles, it goes on.
    pub fn interrupt(&mut self, thread: ThreadId) {
        let now = self.log.now();
        if let Some(interrupted) = self.threads.get_mut(thread as usize)
            && matches!(interrupted.wait, Wait::Spin)
        {
            interrupted.woken_by = now;
            self.player.set(thread, State::Ready, &mut self.log);
        }
    }

    /// Everybody who waits is looked at again.
    pub fn changed_all(&mut self) {
        (0..self.threads.len()).for_each(|index| self.look_at(index));
    }

    /// Can the thread go on?
    pub(super) fn look_at(&mut self, index: usize) {
        if let Wait::Until { can, timed, offers, .. } = self.threads[index].wait {
            // SAFETY: on the stack of a thread that waits, or is about to.
            let state = match unsafe { (*can)() } {
                true if offers => State::Willing,
                true => State::Ready,
                false if timed => State::Willing,
                false => State::Blocked,
            };
            self.player.set(index as ThreadId, state, &mut self.log);
        }
    }

    /// Looks at all who wait: something may have changed without a word, by a plain write, or in code that nobody sees.
    /// Can somebody go on?
    pub(super) fn look_again(&mut self) -> bool {
        let mut some = false;
        for index in 0..self.threads.len() {
            match self.threads[index].wait {
                Wait::Spin if !self.threads[index].spin.is_stuck() => {
                    self.player.set(index as ThreadId, State::Ready, &mut self.log);
                }
                _ => self.look_at(index),
            }
            some |= self.player.state(index as ThreadId) != State::Blocked;
        }
        some
    }
}

/// One of 64 bits for an object.
#[inline]
fn bit(object: u64) -> u64 {
    1 << (object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

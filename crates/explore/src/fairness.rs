//! Fair turns (Musuvathi & Qadeer, "Fair stateless model checking", PLDI 2008): a loop that polls must not keep those
//! from running for whom it waits, or one execution would never end.
//!
//! The steps of a thread from a yield to the next time that it comes to the same yield are a *window*. If somebody could have gone on all through a window, or
//! was kept from it by the thread itself (which held a lock, say), and never had a turn, then the thread is *held* behind
//! that one from there on, until it has had a turn. The first yield is free, and a window in which the thread has only
//! read goes on for a few yields more: loops that only read are found exactly by the sources. So every state that fair
//! schedules reach is still reached, but not every schedule is tried: it is noted on the trace ([`State::Held`]).
//!
//! Not every loop yields. Who has made so many steps in a row that an execution would come to its limit of steps is held
//! in the same way, behind everybody who can go on.

use crate::threads::Threads;
use crate::{AccessType, Op, State, ThreadId};

/// A window in which the thread has only read, or yielded in other places, is this long, in yields.
const OFTEN: usize = 8;

/// After a run of too many steps, for so many more it is looked at whether somebody else can go on.
const LOOKS: u32 = 64;

/// Who must let whom go first.
#[derive(Debug, Default)]
pub(crate) struct Fairness {
    /// So many steps in a row are too many; 0: none are.
    most: u32,
    /// A thread has yielded, or made too many steps: from then on there is something to do.
    on: bool,
    windows: Vec<Window>,
    /// Who made a step last, how many in a row.
    last: ThreadId,
    row: u32,
    made: Option<Made>,
    /// Somebody can go on now, or can't any more, since the last look.
    changed: bool,
    /// Who could go on at the last look.
    able: Threads,
    /// Those who could go on but must let others go first.
    pub held: Threads,
}

/// A step that is not looked at yet: not before it is known who can go on after it.
#[derive(Clone, Copy, Debug)]
struct Made {
    thread: ThreadId,
    /// Where it yields, if it does.
    yields: Option<u64>,
    writes: bool,
}

#[derive(Debug, Default)]
struct Window {
    /// The thread has yielded before.
    open: bool,
    /// Who could go on all the time.
    able: Threads,
    /// Who could not, because of a step of this thread.
    kept: Threads,
    /// Who has had a turn.
    went: Threads,
    /// Who must have a turn before this thread has another one.
    behind: Threads,
    wrote: bool,
    /// Where the thread has yielded.
    yields: Vec<u64>,
}

impl Fairness {
    /// Starts anew; `most` steps in a row are too many.
    pub fn start(&mut self, most: u32) {
        let windows = std::mem::take(&mut self.windows);
        *self = Fairness { most, windows, ..Fairness::default() };
        self.windows.clear();
    }

    /// The thread has made this step. `yields`: where it has offered its turn before, if it has.
    #[inline]
    pub fn made(&mut self, thread: ThreadId, op: &Op, yields: Option<u64>) {
        self.row = if self.last == thread { self.row.saturating_add(1) } else { 1 };
        self.last = thread;
        self.on |= yields.is_some() || self.is_long();
        if self.on {
            self.made = Some(Made { thread, yields, writes: op.how.contains(&AccessType::Write) });
        }
    }

    fn is_long(&self) -> bool {
        self.most != 0 && self.row >= self.most
    }

    /// Somebody can go on, or can't any more.
    #[inline]
    pub fn changed(&mut self) {
        self.changed = self.on;
    }

    /// Must [`Fairness::look`] be called?
    #[inline]
    pub fn is_late(&self) -> bool {
        self.changed || self.made.is_some()
    }

    /// Finds out who is held, now that it is known who can go on. `tell` is told who is held from now on, or no longer,
    /// and behind whom.
    #[cold]
    pub fn look(&mut self, states: &[State], mut tell: impl FnMut(ThreadId, bool, &Threads)) {
        let mut able = Threads::default();
        let is_able = |&(_, state): &(ThreadId, &State)| *state != State::Blocked;
        (0..).zip(states).filter(is_able).for_each(|(thread, _)| able.insert(thread));
        self.windows.resize_with(states.len().max(self.windows.len()), Window::default);
        self.changed = false;
        if let Some(made) = self.made.take() {
            self.step(made, &able);
        }
        for (thread, window) in (0..).zip(&self.windows) {
            let held = able.has(thread) && window.behind.meets(&able);
            if held != self.held.has(thread) {
                match held {
                    true => self.held.insert(thread),
                    false => self.held.remove(thread),
                }
                tell(thread, held, &window.behind);
            }
        }
        self.able = able;
        // A long run in which nobody else could go on leaves nothing to look after.
        self.on = self.windows.iter().any(|window| window.open || !window.behind.is_empty());
    }

    fn step(&mut self, made: Made, able: &Threads) {
        let Made { thread, yields, writes } = made;
        for window in &mut self.windows {
            window.behind.remove(thread);
            window.went.insert(thread);
            window.able.keep(able);
        }
        let long = self.is_long();
        let Some(window) = self.windows.get_mut(thread as usize) else { return };
        let mut kept = self.able.clone();
        kept.take(able);
        window.kept.add(&kept);
        window.wrote |= writes;
        let closes = |site| {
            let again = window.wrote && window.yields.contains(&site);
            !window.open || again || window.yields.len() > OFTEN
        };
        if let Some(site) = yields.filter(|&site| closes(site)) {
            if window.open {
                let mut missed = window.able.clone();
                missed.add(&window.kept);
                missed.take(&window.went);
                window.behind.add(&missed);
            }
            let behind = std::mem::take(&mut window.behind);
            let yields = vec![site];
            *window = Window { open: true, able: able.clone(), behind, yields, ..Window::default() };
        } else {
            window.yields.extend(yields);
        }
        if long {
            window.behind.add(able);
            window.behind.remove(thread);
            // Nobody else can go on: to be looked at again later.
            if window.behind.is_empty() && self.row - self.most > LOOKS {
                self.row = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    const READY: State = State::Ready;

    fn held(fairness: &mut Fairness, states: &[State]) -> Vec<ThreadId> {
        fairness.look(states, |_, _, _| ());
        fairness.held.iter().collect()
    }

    #[test]
    fn the_second_window_in_vain_is_the_last() {
        let (poll, offer) = (Op::new(Kind::Lock, AccessType::Write, 8), Op::local(Kind::Yield));
        let mut fairness = Fairness::default();
        fairness.start(0);
        for round in 0..2 {
            fairness.made(0, &poll, None);
            assert_eq!(fairness.is_late(), round > 0, "nobody has yielded yet");
            if round > 0 {
                assert_eq!(held(&mut fairness, &[READY; 3]), []);
            }
            fairness.made(0, &offer, Some(1));
            let expected: &[ThreadId] = if round == 0 { &[] } else { &[0] };
            assert_eq!(held(&mut fairness, &[READY; 3]), expected, "{round}");
        }
        // Both of the others must have had a turn, or be unable to take one.
        fairness.made(1, &poll, None);
        assert_eq!(held(&mut fairness, &[READY; 3]), [0]);
        fairness.changed();
        assert_eq!(held(&mut fairness, &[READY, READY, State::Blocked]), []);
        fairness.changed();
        assert_eq!(held(&mut fairness, &[READY; 3]), [0]);
        fairness.made(2, &poll, None);
        assert_eq!(held(&mut fairness, &[READY; 3]), []);
    }

    #[test]
    fn who_is_kept_by_a_lock_counts_as_waiting() {
        let (poll, offer) = (Op::new(Kind::Lock, AccessType::Write, 8), Op::local(Kind::Yield));
        let mut fairness = Fairness::default();
        fairness.start(0);
        fairness.made(0, &offer, Some(1));
        held(&mut fairness, &[READY; 2]);
        for _ in 0..2 {
            fairness.made(0, &poll, None);
            held(&mut fairness, &[READY, State::Blocked]);
            fairness.made(0, &offer, Some(1));
            held(&mut fairness, &[READY; 2]);
        }
        assert_eq!(fairness.held.iter().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn reading_is_patient_and_long_runs_end() {
        let (read, offer) = (Op::new(Kind::Load, AccessType::Read, 8), Op::local(Kind::Yield));
        let mut fairness = Fairness::default();
        fairness.start(100);
        let mut yields = 0;
        while held(&mut fairness, &[READY; 2]).is_empty() {
            fairness.made(0, &read, None);
            fairness.look(&[READY; 2], |_, _, _| ());
            fairness.made(0, &offer, Some(1));
            yields += 1;
        }
        assert_eq!(yields, 2 + OFTEN);
        fairness.start(100);
        let mut steps = 0;
        while held(&mut fairness, &[READY; 2]).is_empty() {
            fairness.made(0, &read, None);
            steps += 1;
        }
        assert_eq!(steps, 100);
        fairness.made(1, &read, None);
        assert_eq!(held(&mut fairness, &[READY; 2]), []);
    }
}

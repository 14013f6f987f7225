//! Who waits for a signal, and which signals there are for them: condition variables and futexes.
//!
//! A signal is for one of those who wait when it comes, whichever of them gets its turn first. A signal that finds
//! nobody who still needs one is lost. Nobody goes without a signal, apart from those whose time is up.

use crate::spin::Lock;

/// The queues in which somebody waits, by address.
static QUEUES: Lock<Vec<(usize, Queue)>> = Lock::new(Vec::new());

/// Somebody's place in a queue: later ones are greater, in all queues.
pub type Ticket = u64;

#[derive(Default, Debug)]
struct Queue {
    /// In order of arrival.
    waiting: Vec<Waiter>,
    /// Signals that nobody has taken yet, each for those with smaller tickets. In order.
    signals: Vec<Ticket>,
}

#[derive(Debug)]
struct Waiter {
    ticket: Ticket,
    /// A futex can be told to wake only those with one of these bits.
    bits: u32,
    /// It was named itself, and needs no signal.
    called: bool,
}

/// All bits: everybody.
pub const ANY: u32 = u32::MAX;

impl Queue {
    fn can_go(&self, ticket: Ticket) -> bool {
        self.waiter(ticket).is_some_and(|at| self.waiting[at].called) || self.signal_for(ticket).is_some()
    }

    fn waiter(&self, ticket: Ticket) -> Option<usize> {
        self.waiting.iter().position(|waiter| waiter.ticket == ticket)
    }

    /// The oldest one that is for this waiter: later ones are for more of the others.
    fn signal_for(&self, ticket: Ticket) -> Option<usize> {
        self.signals.iter().position(|&before| ticket < before)
    }

    /// True: by a signal.
    fn leave(&mut self, ticket: Ticket) -> bool {
        let Some(at) = self.waiter(ticket) else { return false };
        if self.waiting.remove(at).called {
            return true;
        }
        let signal = self.signal_for(ticket);
        if let Some(signal) = signal {
            self.signals.remove(signal);
        }
        signal.is_some()
    }

    /// Those who wait and have no signal yet, though it may be open which of them these are.
    fn in_need(&self) -> usize {
        self.waiting.iter().filter(|waiter| !waiter.called).count() - self.signals.len()
    }

    fn signal(&mut self, many: usize, now: Ticket) -> usize {
        let many = many.min(self.in_need());
        self.signals.extend(core::iter::repeat_n(now, many));
        many
    }

    /// Calls those who came first, among those with one of the bits.
    fn call(&mut self, many: usize, bits: u32) -> usize {
        // Who takes the signals that are there is settled now: those who came first.
        for before in core::mem::take(&mut self.signals) {
            if let Some(first) = self.waiting.iter_mut().find(|it| !it.called && it.ticket < before) {
                first.called = true;
            }
        }
        let fitting = self.waiting.iter_mut().filter(|waiter| !waiter.called && waiter.bits & bits != 0);
        fitting.take(many).map(|waiter| waiter.called = true).count()
    }
}

/// The queues, and the next ticket.
fn with<T>(queue: usize, act: impl FnOnce(&mut Queue) -> T) -> T {
    let mut queues = QUEUES.lock();
    let at = queues.iter().position(|(name, _)| *name == queue).unwrap_or_else(|| {
        queues.push((queue, Queue::default()));
        queues.len() - 1
    });
    let result = act(&mut queues[at].1);
    if queues[at].1.waiting.is_empty() {
        queues.swap_remove(at);
    }
    result
}

fn next_ticket() -> Ticket {
    use core::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Begins to wait.
pub fn enter(queue: usize, bits: u32) -> Ticket {
    let ticket = next_ticket();
    with(queue, |queue| queue.waiting.push(Waiter { ticket, bits, called: false }));
    ticket
}

/// Is there a signal for this one?
pub fn can_go(queue: usize, ticket: Ticket) -> bool {
    QUEUES.lock().iter().find(|(name, _)| *name == queue).is_some_and(|(_, queue)| queue.can_go(ticket))
}

/// Waits no longer. True: because of a signal, which nobody else can take now.
pub fn leave(queue: usize, ticket: Ticket) -> bool {
    with(queue, |queue| queue.leave(ticket))
}

/// Does somebody wait in this queue for whom there is no signal yet?
pub fn is_waited_for(queue: usize) -> bool {
    QUEUES.lock().iter().any(|(name, waiting)| *name == queue && waiting.in_need() > 0)
}

/// Signals to `many` of those who wait: how many there were.
pub fn signal(queue: usize, many: usize) -> usize {
    with(queue, |queue| queue.signal(many, next_ticket()))
}

/// Signals to the first `many` of those who wait with one of these bits: how many there were.
pub fn signal_to(queue: usize, many: usize, bits: u32) -> usize {
    if bits == ANY { signal(queue, many) } else { with(queue, |queue| queue.call(many, bits)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names nothing; each test has its own.
    fn fresh() -> usize {
        next_ticket() as usize + (1 << 60)
    }

    #[test]
    fn a_signal_is_for_one_of_those_who_wait() {
        let queue = fresh();
        assert_eq!(signal(queue, 1), 0, "nobody waits: it is lost");
        let [a, b] = [enter(queue, ANY), enter(queue, ANY)];
        assert!(!can_go(queue, a) && !can_go(queue, b));
        assert_eq!(signal(queue, 1), 1);
        let late = enter(queue, ANY);
        assert!(can_go(queue, a) && can_go(queue, b) && !can_go(queue, late));
        assert!(leave(queue, b));
        assert!(!can_go(queue, a) && !can_go(queue, late));
        assert!(!leave(queue, a), "time is up");
        assert_eq!(signal(queue, 3), 1);
        assert!(leave(queue, late));
        assert!(!can_go(queue, late));
    }

    #[test]
    fn signals_beyond_those_in_need_are_lost() {
        let queue = fresh();
        let a = enter(queue, ANY);
        assert_eq!([signal(queue, 1), signal(queue, 1)], [1, 0]);
        let b = enter(queue, ANY);
        assert!(can_go(queue, a) && !can_go(queue, b));
        assert_eq!(signal(queue, usize::MAX), 1);
        assert!(leave(queue, b) && leave(queue, a));
    }

    /// Whoever goes, everybody else who was signalled can go too: the older signal is taken first.
    #[test]
    fn no_signal_is_wasted_whoever_goes_first() {
        for first in 0..3 {
            let queue = fresh();
            let [a, b] = [enter(queue, ANY), enter(queue, ANY)];
            signal(queue, 1);
            let c = enter(queue, ANY);
            signal(queue, 1);
            let all = [a, b, c];
            assert!(leave(queue, all[first]));
            let others: Vec<_> = all.into_iter().filter(|&it| it != all[first]).collect();
            assert!(others.iter().any(|&it| can_go(queue, it)));
            let second = *others.iter().find(|&&it| can_go(queue, it)).unwrap();
            assert!(leave(queue, second));
            assert!(!others.iter().any(|&it| can_go(queue, it)));
            others.iter().filter(|&&it| it != second).for_each(|&it| assert!(!leave(queue, it)));
        }
    }

    #[test]
    fn some_bits_only() {
        let queue = fresh();
        let [a, b, c] = [enter(queue, 1), enter(queue, 2), enter(queue, 3)];
        assert_eq!(signal_to(queue, 1, 2), 1);
        assert!(!can_go(queue, a) && can_go(queue, b) && !can_go(queue, c));
        assert_eq!(signal_to(queue, 9, 1), 2);
        assert!(leave(queue, a) && leave(queue, b) && leave(queue, c));
        // A signal to anybody, and then one to somebody: the first who came has the first.
        let [a, b] = [enter(queue, ANY), enter(queue, ANY)];
        assert_eq!([signal(queue, 1), signal_to(queue, 1, 1)], [1, 1]);
        assert!(leave(queue, b) && leave(queue, a));
    }

    /// Against the definition: a set of waiters can go, one after the other, exactly if signals can be given to all of
    /// them, each to one who waited when it came.
    #[test]
    fn random_histories() {
        let mut random = seqcst_model::sample::Random::new(1);
        let mut draw = |below: u64| random.draw() % below;
        for _ in 0..2_000 {
            let queue = fresh();
            let (mut waiting, mut gone, mut signals) = (Vec::<Ticket>::new(), 0, 0);
            for _ in 0..12 {
                match draw(3) {
                    0 => waiting.push(enter(queue, ANY)),
                    1 => signals += signal(queue, 1 + draw(2) as usize),
                    _ if waiting.is_empty() => {}
                    _ => {
                        let who = waiting[draw(waiting.len() as u64) as usize];
                        if can_go(queue, who) {
                            assert!(leave(queue, who));
                            waiting.retain(|&it| it != who);
                            gone += 1;
                        }
                    }
                }
                // All signals that were not lost find somebody.
                let mut able = waiting.clone();
                able.retain(|&it| can_go(queue, it));
                assert!(able.len() >= signals - gone);
                assert!(able.is_empty() == (signals == gone));
            }
            while let Some(&who) = waiting.iter().find(|&&it| can_go(queue, it)) {
                assert!(leave(queue, who));
                waiting.retain(|&it| it != who);
                gone += 1;
            }
            assert_eq!(gone, signals);
            waiting.iter().for_each(|&it| assert!(!leave(queue, it)));
        }
    }
}

//! Spin loops, found exactly: a thread that comes back to an instruction in the same state, having only read in between,
//! and would read the same again, goes round in circles until somebody writes to what it reads.
//!
//! The *state* of a thread at a call is where it returns to, its stack pointer, the registers that a call keeps, and its
//! stack above the call. What else a loop can see, it must read: by atomic loads, which are noted here with what they
//! read, or by plain ones, which somebody else may change only in a race. Whatever else the thread does is an *effect*,
//! after which nothing that came before counts: a write that others can see, a clock, a random number.

use super::registers::Registers;
use crate::abi::atomics::Word;

/// Larger stacks aren't looked at: no loop is found there.
const DEEP: usize = 64 << 10;
/// Larger stacks are looked at only at an instruction that the thread comes back to.
const SHALLOW: usize = 1 << 10;
/// Longer loops aren't found.
const LONGEST: usize = 64;

/// Who has read the same so often, at the same place, had better let others go first, whatever it counts meanwhile.
const OFTEN: usize = 8;

/// Who has taken the same lock so often at the same place, and changed nothing under it, polls.
const POLLS: u32 = 3;

/// What a thread has read since its last effect.
#[derive(Default)]
pub struct Spin {
    visits: Vec<Visit>,
    /// The visit that this thread is about to repeat: what it reads since then, it reads in a loop.
    since: usize,
    /// There is such a visit.
    back: bool,
    /// Where the thread's stack begins.
    base: usize,
    /// The state of the thread, at its last arrival.
    now: State,
    /// Where it has taken a lock last, and how often in a row, with no effect since but taking locks and giving them back.
    locked: (usize, u32),
}

/// Where a thread is. `stack` is a hash, 0 if nobody has looked.
#[derive(Clone, Copy, Default)]
struct State {
    registers: Registers,
    stack: u64,
}

/// Something was read.
struct Visit {
    state: State,
    /// The object, as steps name it.
    object: u64,
    /// The step that changed it last, before it was read.
    version: u32,
    read: Read,
}

/// How a thread arrives where it is about to read something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// It hasn't been there in this state, or not often enough.
    New,
    /// It has, but what it read there has changed since, by this step.
    Changed(u32),
    /// It goes round in circles.
    Stuck,
}

/// What was read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// A value of this many bytes at this address.
    Value(usize, u8, u64),
    /// The same, but it was written again: by an exchange that changes nothing.
    Rewritten(usize, u8, u64),
    /// An object that isn't a value, such as a lock that is taken: the same until somebody changes it.
    Same,
}

impl Read {
    /// Would it be read again?
    fn is_there(self) -> bool {
        match self {
            // SAFETY: the thread would read it next.
            Read::Value(addr, size, value) | Read::Rewritten(addr, size, value) => unsafe {
                value_at(addr, size) == value
            },
            Read::Same => true,
        }
    }
}

/// # Safety
/// The address can be read.
unsafe fn value_at(addr: usize, size: u8) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => u8::load(addr).bits(),
            2 => u16::load(addr).bits(),
            4 => u32::load(addr).bits(),
            8 => u64::load(addr).bits(),
            _ => u128::load(addr).bits(),
        }
    }
}

impl Spin {
    /// For a thread whose stack begins at `base`.
    pub fn new(base: usize) -> Spin {
        Spin { base, ..Spin::default() }
    }

    /// The thread is about to read something. `version` is the step that changed an object last.
    ///
    /// What is concluded depends on what the thread has seen, and on whether that has been changed since, by whatever
    /// value: so it is the same in executions that differ only in the order of independent steps.
    #[inline]
    pub fn arrives(&mut self, registers: Registers, version: impl Fn(u64) -> u32) -> Arrival {
        let size = self.base.wrapping_sub(registers.sp);
        self.now = State { registers, stack: if size <= SHALLOW { hash(registers.sp, size) } else { 0 } };
        self.back = false;
        match self.visits.iter().any(|visit| visit.state.registers == registers) {
            true => self.comes_back(size, version),
            false => Arrival::New,
        }
    }

    #[cold]
    fn comes_back(&mut self, size: usize, version: impl Fn(u64) -> u32) -> Arrival {
        if size > DEEP {
            return Arrival::New;
        }
        if self.now.stack == 0 {
            self.now.stack = hash(self.now.registers.sp, size);
        }
        let State { registers, stack } = self.now;
        let same = |visit: &Visit| visit.state.registers == registers && visit.state.stack == stack;
        // The last time counts: what has been read since then is the newest there is.
        let Some(since) = self.visits.iter().rposition(same) else { return Arrival::New };
        (self.since, self.back) = (since, true);
        let (before, round) = self.visits.split_at(since);
        // To write the same again is to hand on what others have released: one more round, which sees the same.
        if round.iter().any(|visit| matches!(visit.read, Read::Rewritten(..))) {
            let Some(start) = before.iter().rposition(same) else { return Arrival::New };
            let seen = |visit: &Visit| (visit.object, visit.version);
            if !round.iter().all(|visit| before[start..].iter().any(|first| seen(first) == seen(visit))) {
                return Arrival::New;
            }
        }
        if let Some(changed) = round.iter().find(|visit| version(visit.object) != visit.version) {
            return Arrival::Changed(version(changed.object));
        }
        // Plain writes change something without a word. In this order, as the thread would read: it may not even come
        // to the next one.
        if round.iter().all(|visit| visit.read.is_there()) { Arrival::Stuck } else { Arrival::New }
    }

    /// Where the thread has arrived it has been often, and would read the same again. It doesn't go round in circles, for
    /// something else has changed (it counts its rounds, as loops with a backoff do), but it waits for others.
    #[inline]
    pub fn dawdles(&self) -> bool {
        let State { registers: Registers { pc, sp, .. }, .. } = self.now;
        let here = |visit: &&Visit| (visit.state.registers.pc, visit.state.registers.sp) == (pc, sp);
        pc != 0
            && self.visits.len() >= OFTEN
            && self.visits.iter().filter(here).filter(|visit| visit.read.is_there()).count() >= OFTEN
    }

    /// If the thread, where it has arrived, reads this value: does it come back, with nothing done but reading?
    pub fn would_come_back(&self, value: u64) -> bool {
        let mut round = self.visits[self.since.min(self.visits.len())..].iter();
        let first = round.next().map(|visit| visit.read);
        let same = matches!(first, Some(Read::Value(_, _, before)) if before == value);
        self.back && same && round.all(|visit| visit.read.is_there())
    }

    /// The thread has read this, where it arrived.
    #[inline]
    pub fn read(&mut self, object: u64, version: u32, read: Read) {
        if self.visits.len() == LONGEST {
            self.visits.clear();
        }
        self.visits.push(Visit { state: self.now, object, version, read });
        self.now.registers.pc = 0;
        self.back = false;
    }

    /// The thread did something else.
    #[inline]
    pub fn effect(&mut self) {
        self.section();
        self.locked = (0, 0);
    }

    /// It took a lock, or gave one back.
    #[inline]
    pub fn section(&mut self) {
        self.visits.clear();
        self.back = false;
    }

    /// The thread is about to take a lock, here. True: it has done so again and again, and nothing else that others can
    /// see.
    pub fn polls(&mut self, pc: usize) -> bool {
        let (last, times) = self.locked;
        self.locked = (pc, if last == pc { times + 1 } else { 1 });
        self.locked.1 > POLLS
    }

    /// What the thread reads in its loop.
    pub fn objects(&self) -> impl Iterator<Item = u64> {
        self.visits[self.since.min(self.visits.len())..].iter().map(|visit| visit.object)
    }

    /// Does the thread read the object, in its loop?
    pub fn reads(&self, object: u64) -> bool {
        self.objects().any(|other| other == object)
    }

    /// Would the thread still read the same?
    pub fn is_stuck(&self) -> bool {
        self.visits[self.since.min(self.visits.len())..].iter().all(|visit| visit.read.is_there())
    }

    /// Does the address lie on the thread's own stack, in a frame that is in use?
    #[inline]
    pub fn is_own(&self, addr: usize) -> bool {
        self.base.wrapping_sub(addr).wrapping_sub(1) < DEEP
    }
}

/// A hash of the stack above the stack pointer, never 0. Four sums at once: they don't wait for one another.
#[inline]
fn hash(sp: usize, size: usize) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    // The return address is at the stack pointer.
    let words = size.saturating_sub(8) / 8;
    let first = (sp + 8) as *const u64;
    let mut sums = [1, 2, 3, 4u64];
    // SAFETY: up to its beginning the stack can be read.
    let word = |i: usize| unsafe { first.add(i).read_volatile() };
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(K).rotate_left(29);
    let mut i = 0;
    while i + 4 <= words {
        sums = [0, 1, 2, 3].map(|lane| mix(sums[lane], word(i + lane)));
        i += 4;
    }
    while i < words {
        sums[i % 4] = mix(sums[i % 4], word(i));
        i += 1;
    }
    sums.into_iter().fold(size as u64, mix) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack with a few words on it, and registers of a thread that is there.
    fn at(stack: &[u64], pc: usize) -> Registers {
        Registers { pc, sp: stack.as_ptr() as usize, kept: [0; 6] }
    }

    fn base(stack: &[u64]) -> usize {
        stack.as_ptr() as usize + size_of_val(stack)
    }

    #[test]
    fn the_same_state_and_the_same_value() {
        let (mut stack, mut x) = ([0u64; 8], 7u32);
        let addr = &raw mut x as usize;
        let mut spin = Spin::new(base(&stack));
        let value = |x| Read::Value(addr, 4, x);
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::New);
        spin.read(8, 0, value(7));
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::Stuck);
        assert!(spin.reads(8) && spin.is_stuck());
        assert_eq!(spin.arrives(at(&stack, 1), |_| 3), Arrival::Changed(3));
        // Another instruction, another register, another stack, another value, an effect: no loop.
        assert_eq!(spin.arrives(at(&stack, 2), |_| 0), Arrival::New);
        let registers = Registers { kept: [0, 0, 1, 0, 0, 0], ..at(&stack, 1) };
        assert_eq!(spin.arrives(registers, |_| 0), Arrival::New);
        stack[3] = 5;
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::New);
        stack[3] = 0;
        // SAFETY: `x` is alive.
        unsafe { (addr as *mut u32).write_volatile(8) };
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::New);
        // SAFETY: `x` is alive.
        unsafe { (addr as *mut u32).write_volatile(7) };
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::Stuck);
        spin.effect();
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::New);
    }

    #[test]
    fn several_loads() {
        let (stack, x, y) = ([0u64; 4], 1u64, 2u64);
        let mut spin = Spin::new(base(&stack));
        let read = |x: &u64| Read::Value(std::ptr::from_ref(x) as usize, 8, *x);
        for (pc, object, value) in [(5, 50, &y), (1, 10, &x), (2, 20, &y)] {
            assert_eq!(spin.arrives(at(&stack, pc), |_| 0), Arrival::New);
            spin.read(object, 0, read(value));
        }
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::Stuck);
        assert!(spin.reads(10) && spin.reads(20) && !spin.reads(50));
    }

    #[test]
    fn locks() {
        let stack = [0u64; 4];
        let mut spin = Spin::new(base(&stack));
        spin.arrives(at(&stack, 1), |_| 0);
        spin.read(10, 0, Read::Same);
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::Stuck);
        assert_eq!(spin.arrives(at(&stack, 1), |_| 7), Arrival::Changed(7));
    }

    /// A lock that is taken by exchanges: the second round must see what the first one saw.
    #[test]
    fn exchanges() {
        let (stack, x) = ([0u64; 4], 1u8);
        let read = Read::Rewritten(&raw const x as usize, 1, 1);
        let mut spin = Spin::new(base(&stack));
        for (version, expected) in
            [(0, Arrival::New), (0, Arrival::New), (5, Arrival::Changed(5)), (5, Arrival::New)]
        {
            assert_eq!(spin.arrives(at(&stack, 1), |_| version), expected, "{version}");
            spin.read(10, version, read);
        }
        assert_eq!(spin.arrives(at(&stack, 1), |_| 5), Arrival::Stuck);
    }

    #[test]
    fn counted_rounds() {
        let (mut stack, mut x) = ([0u64; 8], 7u32);
        let addr = &raw mut x as usize;
        let mut spin = Spin::new(base(&stack));
        for round in 0..3 * OFTEN as u64 {
            stack[3] = round;
            let arrival = spin.arrives(at(&stack, 1), |_| 0);
            assert_eq!(arrival, Arrival::New, "the stack is another one each time");
            assert_eq!(spin.dawdles(), round >= OFTEN as u64, "{round}");
            spin.read(8, 0, Read::Value(addr, 4, 7));
        }
        // SAFETY: `x` is alive.
        unsafe { (addr as *mut u32).write_volatile(8) };
        assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::New);
        assert!(!spin.dawdles());
    }

    #[test]
    fn polling_under_a_lock() {
        let mut spin = Spin::default();
        for round in 0..POLLS {
            assert!(!spin.polls(5), "{round}");
            spin.section();
        }
        assert!(spin.polls(5) && !spin.polls(6), "another place is another loop");
        assert!((0..=POLLS).fold(false, |_, _| spin.polls(5)));
        spin.effect();
        assert!(!spin.polls(5));
    }

    #[test]
    fn deep_stacks_need_one_more_round() {
        let stack = vec![0u64; 1000];
        let x = 1u8;
        let mut spin = Spin::new(base(&stack));
        for round in 0..4 {
            let stuck = spin.arrives(at(&stack, 1), |_| 0) == Arrival::Stuck;
            assert_eq!(stuck, round > 1, "{round}");
            spin.read(10, 0, Read::Value(&raw const x as usize, 1, 1));
        }
        let stack = vec![0u64; DEEP];
        let mut spin = Spin::new(base(&stack));
        for _ in 0..4 {
            assert_eq!(spin.arrives(at(&stack, 1), |_| 0), Arrival::New);
            spin.read(10, 0, Read::Value(&raw const x as usize, 1, 1));
        }
    }
}

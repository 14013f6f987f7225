//! Which later accesses a machine keeps after an earlier one: the `Ord` conditions of \[Fency21] §IV, along paths.
//!
//! A path leaves an event, the *origin*. [`State`] is what has been met since: does the machine order the origin before
//! whatever comes next? [`Rules::orders`] answers that for the next event, the other functions lead the state on. An event
//! that is ordered after the origin hands on what it orders itself, so the answers are transitive within a thread.
//!
//! Coherence helps where both ends of a conflict are known to be at the same memory (\[Fency21] Fig. 3: `eco ; epoℓ ∪ epoℓ ; eco ⊆
//! eco`). A conflict that enters the origin could as well enter a later access of the thread to the same memory, unless that
//! reads what the thread itself wrote: so such an access stands in for the origin. And a conflict that leaves a
//! read could as well leave an earlier access to the same memory: if that one is ordered, so is the read
//! ([`Rules::holds`]). For the same reason a pair need not be looked at if an access in between could stand in for
//! one of its ends ([`Rules::needless`]).
//!
//! The target machine must order *for sure*; of the source machine it is asked what it *may* order: dependencies count
//! there even if a compiler may lose them.

use crate::machine::{Acquire, Fence, Machine, Step};

/// What a machine knows of the origin at a place on a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct State {
    bits: u16,
    /// Release writes on the way, by their number (ARMv8's `po ; [L] ; coi`).
    released: u32,
    /// Locations of events after the origin, by their number.
    reached: u32,
    /// Locations whose last write of the thread belongs to a read-modify-write and is the origin, or after it.
    swapped: u32,
}

/// Everything later is after the origin.
const ALL: u16 = 1;
/// The origin, or something after it, is a read: a load fence orders it.
const READ: u16 = 2;
/// The origin, or something after it, is a write: a store fence orders it.
const WRITE: u16 = 4;
/// There was such a store fence: writes are after the origin.
const WRITES: u16 = 8;
/// The origin, or something after it, is a release write: acquire reads are after it.
const RELEASE: u16 = 16;
/// The last read is the origin or after it: if it belongs to a read-modify-write, so is the write.
const LAST_READ: u16 = 32;
/// The origin, or something after it, is the write of a read-modify-write.
const SWAPPED: u16 = 64;
/// Something after the origin is a read: what depends on it may be, too.
const LATER_READ: u16 = 128;
/// The origin's instruction was met again: what depends on it now depends on the newer value.
const RENEWED: u16 = 256;
/// The thread has written the origin's location since, or the origin is a write.
const WROTE: u16 = 512;
/// An access to the origin's memory was met that stands in for it and is before everything later.
const STOOD: u16 = 1024;
/// An access to the origin's memory was met that stands in for it and is before later writes.
const STOOD_WRITE: u16 = 2048;

impl State {
    fn has(self, bit: u16) -> bool {
        self.bits & bit != 0
    }

    fn with(self, bits: u16) -> State {
        State { bits: self.bits | bits, ..self }
    }
}

impl Rules {
    /// The bits that make a pair more likely to be at fault, for this machine's part.
    fn perilous(self) -> u16 {
        match self.may {
            true => ALL | READ | WRITE | WRITES | RELEASE | LAST_READ | SWAPPED | LATER_READ | WROTE,
            false => WROTE | RENEWED,
        }
    }

    /// A state that is at least as perilous as both.
    pub fn worst(self, a: State, b: State) -> State {
        let mask = self.perilous();
        let released = if self.may { a.released | b.released } else { a.released & b.released };
        State {
            bits: ((a.bits | b.bits) & mask) | (a.bits & b.bits & !mask),
            released,
            reached: a.reached & b.reached,
            swapped: a.swapped & b.swapped,
        }
    }
}

/// An event on a path, as one machine sees it.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// The step.
    pub step: Step,
    /// Whether it is the origin's own instruction, met again.
    pub again: bool,
    /// Whether it may be at the origin's memory.
    pub may_alias: bool,
    /// Whether it always is.
    pub must_alias: bool,
    /// Its location's bit, if it is always the same memory.
    pub place: u32,
    /// Whether it depends on the origin.
    pub depends: bool,
    /// Whether it depends on anything.
    pub depends_at_all: bool,
    /// Its bit among the writes of the thread.
    pub bit: u32,
    /// The writes to its location.
    pub covered: u32,
}

/// A machine's rules.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The machine.
    pub machine: Machine,
    /// Query for what may be ordered, not for what surely is.
    pub may: bool,
    /// Whether the origin writes.
    pub from_write: bool,
}

impl Rules {
    /// The state right after the origin.
    pub fn start(self, origin: Reached) -> State {
        let mut state = if self.from_write { State::default().with(WROTE) } else { State::default() };
        if matches!(origin.step, Step::Write { exclusive: true, .. }) && !self.may {
            state.swapped = origin.place;
        }
        handed_on(state, origin.step, self.machine)
    }

    /// The state after a fence.
    pub fn fence(self, state: State, fence: Fence) -> State {
        match (self.machine, fence) {
            (Machine::Sc, _) => state,
            (Machine::X86, Fence::Full) if state.has(STOOD_WRITE) => state.with(ALL | STOOD),
            (_, Fence::Full) => state.with(ALL),
            (Machine::ArmV8, Fence::Load) if state.has(READ) => state.with(ALL),
            (Machine::ArmV8, Fence::Store) if state.has(WRITE) => state.with(WRITES),
            (Machine::ArmV7, Fence::Store) if state.has(WRITE) => state.with(WRITES),
            _ => state,
        }
    }

    /// Whether the event is after the origin.
    ///
    /// - SC: always. x86 (`xppo ∪ implied`): unless a write is followed by a read with no fence between.
    /// - ARMv8 (`bob`, `aob`, `dob`): [`ALL`] is `po;[F];po`, `[A ∪ Q];po` and `[R];po;[FLD];po`.
    ///   An acquire read after a read-modify-write of the same location reads what that wrote (`aob`), or what another
    ///   thread wrote later.
    /// - ARMv7: fences only; `ppo` does not suffice (\[Fency21] §III.C).
    pub fn orders(self, state: State, event: Reached) -> bool {
        let write = matches!(event.step, Step::Write { .. });
        match self.machine {
            Machine::Sc => true,
            Machine::X86 => state.has(ALL) || !self.from_write || write,
            Machine::ArmV7 => state.has(ALL) || (write && state.has(WRITES)),
            Machine::ArmV8 => {
                state.has(ALL)
                    || (event.depends && (self.may || !state.has(RENEWED)))
                    || (self.may && state.has(LATER_READ) && event.depends_at_all)
                    || match event.step {
                        Step::Read(acquire) => {
                            let swapped =
                                state.swapped & event.place != 0 || (self.may && state.has(SWAPPED));
                            (acquire == Acquire::Yes && state.has(RELEASE))
                                || (acquire != Acquire::No && swapped)
                        }
                        Step::Write { release, exclusive } => {
                            release
                                || state.has(WRITES)
                                || (exclusive && state.has(LAST_READ))
                                || state.released & event.covered != 0
                        }
                        Step::Fence(_) => false,
                    }
            }
        }
    }

    /// Whether no cycle can go from the origin to this event: it is after the origin, or as good as that.
    pub fn holds(self, state: State, event: Reached) -> bool {
        let read = matches!(event.step, Step::Read(_));
        self.orders(state, event) || (!self.may && read && state.reached & event.place != 0)
    }

    /// Whether a cycle through the origin and this event could as well go through an access between them: one that stands
    /// in for the origin and is before this event, or one that is after the origin and for which a read stands in. Query
    /// of SC and x86 only: ARMv8's answers about what may be are too generous here.
    pub fn needless(self, state: State, event: Reached) -> bool {
        let write = matches!(event.step, Step::Write { .. });
        let exact = matches!(self.machine, Machine::Sc | Machine::X86);
        let end = !write && state.reached & event.place != 0;
        exact && (end || state.has(STOOD) || (write && state.has(STOOD_WRITE)))
    }

    /// The state after an event.
    pub fn pass(self, state: State, event: Reached) -> State {
        let write = matches!(event.step, Step::Write { .. });
        let ordered = self.orders(state, event);
        let stands_in = event.must_alias && (write || !state.has(WROTE));
        let mut state = state;
        if !write {
            state.bits &= !LAST_READ;
        }
        if ordered {
            state.reached |= event.place;
        }
        // Not the write of a read-modify-write: `cycles` enters its read instead, and that may be the origin.
        let swap = matches!(event.step, Step::Write { exclusive: true, .. });
        if stands_in && self.may && !swap {
            let later = self.machine == Machine::X86 && write;
            state = state.with(if later { STOOD_WRITE } else { STOOD });
        }
        if ordered || (stands_in && !self.may) {
            state = handed_on(state, event.step, self.machine);
        }
        if write {
            let swapped = matches!(event.step, Step::Write { exclusive: true, .. });
            let kept = swapped && (ordered || stands_in) && !self.may;
            state.swapped = (state.swapped & !event.place) | if kept { event.place } else { 0 };
        }
        if self.machine == Machine::ArmV8 {
            state.released |= if is_release(event.step) { event.bit } else { 0 };
            state = state.with(if ordered && !write { LATER_READ } else { 0 });
            state = state.with(if event.again { RENEWED } else { 0 });
        }
        state.with(if write && event.may_alias { WROTE } else { 0 })
    }
}

fn is_release(step: Step) -> bool {
    matches!(step, Step::Write { release: true, .. })
}

/// The state once this step is known to be the origin, or after it.
fn handed_on(state: State, step: Step, machine: Machine) -> State {
    match step {
        Step::Write { .. } if machine == Machine::ArmV7 => state.with(WRITE),
        _ if machine != Machine::ArmV8 => state,
        Step::Read(Acquire::No) => state.with(READ | LAST_READ),
        Step::Read(_) => state.with(ALL | READ | LAST_READ),
        Step::Write { release, exclusive } => {
            let state = if release { state.with(RELEASE) } else { state };
            let state = if exclusive { state.with(SWAPPED) } else { state };
            state.with(WRITE)
        }
        Step::Fence(_) => state,
    }
}

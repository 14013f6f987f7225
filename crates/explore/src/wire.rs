//! How `seqcst explore` and an instrumented program talk: one piece of shared memory.
//!
//! ```text
//! seqcst explore                         the program, stopped just before main (the fork server)
//!   writes the plan, turn = GO      ──▶    forks; the child executes main under the plan and writes its trace
//!   reads status and trace          ◀──    waits for the child, writes its wait status, turn = DONE
//!   … turn = QUIT                   ──▶    ends
//! ```
//!
//! The memory is a file without a name (`memfd`); its number stands in [`VARIABLE`]. Plain data only: both
//! sides map it and read or write through raw pointers; `turn`, `steps` and `changes` are atomics. The arrays follow the
//! header in this order, at the offsets that [`Layout`] computes from the header's capacities.

pub use crate::Waiting;
use crate::{Change, Op, Step, ThreadId};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

/// The environment variable with the number of the file.
pub const VARIABLE: &str = "SEQCST_EXPLORE";
/// What every header begins with; its last digits are the version of the layout.
pub const MAGIC: u64 = 0x7365_7163_7374_0003;

/// Values of [`Header::turn`].
pub mod turn {
    /// The program isn't there yet.
    pub const STARTING: u32 = 0;
    /// The program waits for a plan.
    pub const READY: u32 = 1;
    /// There is a plan.
    pub const GO: u32 = 2;
    /// There is a trace; `status` is set. The program waits for the next plan.
    pub const DONE: u32 = 3;
    /// No more plans.
    pub const QUIT: u32 = 4;
    /// The program can't be explored: `message` says why.
    pub const REFUSED: u32 = 5;
}

/// The beginning of the shared memory. All fields are written before `turn` hands over.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// Whose turn: a futex.
    pub turn: AtomicU32,
    /// The process of this execution, while there is one.
    pub child: AtomicI32,

    // Set once, by `seqcst explore`.
    /// How many entries the arrays have room for.
    pub capacity: Capacity,
    /// An execution with more steps is stopped.
    pub step_limit: u32,

    // The plan.
    /// 0: steady, 1: random, 2: pct.
    pub then: u32,
    /// See [`crate::Fallback`].
    pub seed: u64,
    /// See [`crate::Fallback::Pct`].
    pub depth: u32,
    /// See [`crate::Fallback::Pct`].
    pub length: u32,
    /// Entries of the tape.
    pub tape: u32,
    /// Entries of the sleep set.
    pub asleep: u32,
    /// See [`crate::Plan::lenient`].
    pub lenient: u32,
    /// The memory model to watch for, by its number (`Model::number`); that of SC: no access is called stale.
    pub monitor: u32,
    /// Look for data races.
    pub races: u32,
    /// Make full reports (slow), to where the options say; else findings are only noted here.
    pub reports: u32,
    /// Let the program write to standard output and standard error.
    pub output: u32,

    // The trace.
    /// Steps so far: also what a watchdog looks at.
    pub steps: AtomicU32,
    /// Changes so far.
    pub changes: AtomicU32,
    /// Findings so far (those beyond the capacity are counted only).
    pub findings: AtomicU32,
    /// [`crate::End`] as a number.
    pub end: AtomicU32,
    /// As `waitpid` says it.
    pub status: AtomicI32,
    /// Threads that there were.
    pub threads: AtomicU32,
    /// When the running thread last came to a scheduling point: steps and a count of those without a step.
    pub pulse: AtomicU64,
    /// The thread that runs now, or ran last, and where it was at its last scheduling point: to say who hangs.
    pub current: AtomicU32,
    /// Entries of `waiting`: threads that were left when nobody could go on, or when steps ran out.
    pub waiting: AtomicU32,
    /// See `current`.
    pub site: AtomicU64,
    /// 1: atomic accesses of different sizes overlap. From then on, in later executions too, objects in memory are
    /// granules of 8 bytes; before, the addresses of accesses. Never cleared by the program.
    pub mixed: AtomicU32,
    /// Length of `message`.
    pub message_len: AtomicU32,
    /// A failed assertion, or why the program can't be explored: UTF-8.
    pub message: [u8; 512],
}

/// How many entries the arrays have room for.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Steps, and turns on the tape.
    pub steps: u32,
    /// Changes.
    pub changes: u32,
    /// Threads asleep.
    pub asleep: u32,
    /// Findings.
    pub findings: u32,
    /// Threads that wait.
    pub waiting: u32,
}

/// One thread of the sleep set.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asleep {
    /// What it would do.
    pub op: Op,
    /// The thread.
    pub thread: ThreadId,
}

/// A finding of a monitor.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// 0: stale, 1: race, 2: misuse.
    pub kind: u32,
    /// At (or after) which step.
    pub step: u32,
    /// The access.
    pub site: u64,
    /// The other access of a race, the missed write, or where the life of what is misused ended.
    pub other: u64,
}

/// Where the arrays begin, in bytes from the header's beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// `[ThreadId; capacity.steps]`
    pub tape: usize,
    /// `[Asleep; capacity.asleep]`
    pub asleep: usize,
    /// `[Step; capacity.steps]`
    pub steps: usize,
    /// `[Change; capacity.changes]`
    pub changes: usize,
    /// `[Finding; capacity.findings]`
    pub findings: usize,
    /// `[Waiting; capacity.waiting]`
    pub waiting: usize,
    /// Bytes of the whole area.
    pub size: usize,
}

impl Layout {
    /// For these capacities.
    pub const fn new(capacity: Capacity) -> Layout {
        const fn after(start: usize, many: u32, size: usize) -> usize {
            (start + many as usize * size).next_multiple_of(64)
        }
        let tape = size_of::<Header>().next_multiple_of(64);
        let asleep = after(tape, capacity.steps, size_of::<ThreadId>());
        let steps = after(asleep, capacity.asleep, size_of::<Asleep>());
        let changes = after(steps, capacity.steps, size_of::<Step>());
        let findings = after(changes, capacity.changes, size_of::<Change>());
        let waiting = after(findings, capacity.findings, size_of::<Finding>());
        let size = after(waiting, capacity.waiting, size_of::<Waiting>());
        Layout { tape, asleep, steps, changes, findings, waiting, size }
    }
}

//! What is kept for reports.

use super::objects::Touch;
use super::watch::Access;
use seqcst_explore::ThreadId;
use seqcst_monitor::clocks::Write;

/// What a monitor found.
#[derive(Clone, Debug)]
pub enum Finding {
    /// An access that could be stale.
    Stale(Stale),
    /// Two accesses to a cell with no order between them, each with whether it writes.
    Race {
        /// The earlier one.
        first: (Touch, bool),
        /// The later one.
        second: (Touch, bool),
        /// The number of the step before which it was made.
        step: u32,
    },
}

/// An access that could be stale.
#[derive(Clone, Debug)]
pub struct Stale {
    pub thread: ThreadId,
    /// Its number in the trace.
    pub step: u32,
    /// What its thread has done and read before, as a number.
    pub past: u64,
    pub atomic: u32,
    pub access: Access,
    /// The write that it could miss.
    pub missed: Option<Write>,
    /// The oldest one that it could read instead, or be placed after.
    pub older: Option<Write>,
    /// All values that it could read instead.
    pub choices: Vec<u64>,
    /// It is a compare-and-swap that failed, on this value.
    pub failed_on: Option<u64>,
}

/// How a thread died.
#[derive(Clone, Debug)]
pub struct Dead {
    pub message: String,
    /// `file:line:column`.
    pub place: String,
}

/// One step, in words.
#[derive(Clone, Debug)]
pub struct Note {
    /// The number of the step, as long as the trace was when it was taken.
    pub step: u32,
    pub text: String,
}

/// Steps in words, if wanted.
#[derive(Debug, Default)]
pub struct Notes {
    pub wanted: bool,
    pub list: Vec<Note>,
    pointers: Vec<u64>,
}

impl Notes {
    /// None yet.
    pub fn clear(&mut self) {
        self.list.clear();
        self.pointers.clear();
    }

    /// A value for people: pointers are numbered, since they are others every time.
    pub fn value(&mut self, value: u64) -> String {
        if value >> 63 != 0 {
            return (value as i64).to_string();
        }
        if value >> 32 == 0 {
            return value.to_string();
        }
        let known = self.pointers.iter().position(|&pointer| pointer == value);
        let number = known.unwrap_or_else(|| {
            self.pointers.push(value);
            self.pointers.len() - 1
        });
        format!("p{number}")
    }
}

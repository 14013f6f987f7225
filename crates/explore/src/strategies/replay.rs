//! One execution: a tape, as it was written down.

use crate::{Plan, Progress, Strategy, ThreadId, Trace};

/// Plays one tape, then goes on steadily.
#[derive(Clone, Debug)]
pub struct Replay {
    tape: Option<Vec<ThreadId>>,
}

impl Replay {
    /// Plays this tape ([`crate::tape::read`] gets it from text).
    pub fn new(tape: Vec<ThreadId>) -> Replay {
        Replay { tape: Some(tape) }
    }
}

impl Strategy for Replay {
    fn next(&mut self, plan: &mut Plan) -> bool {
        let Some(tape) = self.tape.take() else { return false };
        plan.replay(tape);
        true
    }

    fn learn(&mut self, _: &Plan, _: &Trace) {}

    fn progress(&self) -> Progress {
        let done = self.tape.is_none();
        Progress { part: Some(f64::from(u8::from(done))), ..Progress::default() }
    }
}

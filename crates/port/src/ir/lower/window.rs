//! While threads run: how many a function may have started, less those that it has waited for.
//!
//! Along every path: a start is one more; who waits for a thread returns when one has ended, and nobody may wait twice for the
//! same one, so it is one less, whichever it is. In a loop, starts are any number, and waits may be none.

use crate::ir::code::Code;
use crate::ir::flow::Flow;
use crate::ir::inline::{Body, Room, Step};
use crate::ir::library::Effect;
use crate::ir::module::{Call, End, Op};

/// How many threads may run at every step.
pub struct Window {
    /// Before every step of every room.
    running: Vec<Vec<usize>>,
}

/// The steps that start threads.
pub fn starts<'b>(code: &'b Code, body: &'b Body) -> impl Iterator<Item = &'b Step> {
    let steps = body.rooms.iter().flat_map(|room| &room.steps);
    steps.filter(|step| matches!(&step.op, Op::Call(call) if code.effect_of(call).starts()))
}

impl Window {
    /// Looks at a function. Without `closes`, threads that it knows nothing of may go on when it has waited for its own.
    pub fn new(code: &Code, body: &Body, flow: &Flow, closes: bool) -> Window {
        let any_number = starts(code, body).count() + 1;
        let joins =
            |room: usize, call: &Call| closes && !flow.repeats(room) && code.effect_of(call) == Effect::Joins;
        let mut running: Vec<Vec<usize>> =
            body.rooms.iter().map(|room| vec![0; room.steps.len() + 1]).collect();
        let mut work: Vec<usize> = (0..body.rooms.len()).rev().collect();
        while let Some(number) = work.pop() {
            let room = &body.rooms[number];
            for (at, step) in room.steps.iter().enumerate() {
                let before = running[number][at];
                running[number][at + 1] = match &step.op {
                    Op::Call(call) if code.effect_of(call).starts() => (before + 1).min(any_number),
                    Op::Call(call) if before < any_number && joins(number, call) => before.saturating_sub(1),
                    _ => before,
                };
            }
            let behind = running[number][room.steps.len()];
            for (edge, &to) in flow.next[number].iter().enumerate() {
                // Who leaves by an exception has not waited.
                let out = if edge > 0 { behind.max(running[number][thrown(room)]) } else { behind };
                if out > running[to][0] {
                    running[to][0] = out;
                    work.push(to);
                }
            }
        }
        Window { running }
    }

    /// Whether a thread may run at a step.
    pub fn is_open(&self, room: usize, step: usize) -> bool {
        self.running.get(room).and_then(|room| room.get(step)).is_some_and(|&running| running > 0)
    }
}

/// The last step of a room that an exception can come from, as all that lead elsewhere end their room.
fn thrown(room: &Room) -> usize {
    let behind = room.steps.len();
    match room.steps.last().map(|step| &step.op) {
        Some(Op::End(End::Any(_))) => behind.saturating_sub(2),
        _ => behind,
    }
}

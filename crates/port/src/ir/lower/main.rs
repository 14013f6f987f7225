//! `main`: how often it starts a thread, and what it does while threads run.

use super::Lower;
use crate::ir::flow::Flow;
use crate::ir::inline::inline;
use crate::ir::library::Effect;
use crate::ir::module::{Call, Callee, Op};
use crate::ir::threads::Thread;
use crate::limit::OutOfTime;
use crate::program::{Function, What};

impl Lower<'_> {
    /// Whether a thread is started only once: in `main`, and not in a loop.
    pub(super) fn once(&self, thread: &Thread) -> bool {
        let Some([start]) = thread.starts.as_deref() else { return false };
        let Some(function) = self.code.function(start.by).filter(|_| self.code.name(start.by) == "main")
        else {
            return false;
        };
        let next: Vec<Vec<usize>> = function.blocks.iter().map(|block| block.successors()).collect();
        let mut work = next.get(start.block as usize).cloned().unwrap_or_default();
        let mut reached = vec![false; next.len()];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut reached[block], true) {
                work.extend(&next[block]);
            }
        }
        !reached.get(start.block as usize).copied().unwrap_or(true)
    }

    /// `main`, if it starts threads: what it does between the first start and the last join.
    pub(super) fn starter(&mut self, number: u32) -> Result<Option<Function>, OutOfTime> {
        let found = self.code.functions().find(|id| self.code.name(*id) == "main");
        let Some(main) = found else { return Ok(None) };
        let body = inline(self.code, main);
        let flow = Flow::new(&body);
        let called = |name: &dyn Fn(&Call) -> bool| -> Vec<(usize, usize)> {
            let mut out = Vec::new();
            for (r, room) in body.rooms.iter().enumerate() {
                for (s, step) in room.steps.iter().enumerate() {
                    if matches!(&step.op, Op::Call(call) if name(call)) {
                        out.push((r, s));
                    }
                }
            }
            out
        };
        let starts = called(&|call| matches!(self.code.effect_of(call), Effect::Starts(..)));
        let joins = called(&|call| match &call.callee {
            Callee::Direct(object) => {
                let name = self.code.objects.get(*object as usize).map_or("", |object| &object.name);
                matches!(name, "pthread_join" | "thrd_join")
            }
            _ => false,
        });
        if starts.is_empty() {
            return Ok(None);
        }
        let next_of = |places: &[(usize, usize)]| -> Vec<usize> {
            places.iter().flat_map(|(room, _)| flow.next[*room].clone()).collect()
        };
        let before_of = |places: &[(usize, usize)]| -> Vec<usize> {
            places.iter().flat_map(|(room, _)| flow.before[*room].clone()).collect()
        };
        let behind = flow.from(&next_of(&starts));
        let ahead = flow.to(&before_of(&joins));
        // Threads that nobody waits for may run to the end.
        let all_joined = joins.len() >= starts.len();
        let window = move |room: usize, step: usize| {
            let started = behind[room] || starts.iter().any(|&(r, s)| r == room && s < step);
            let joined = ahead[room] || joins.iter().any(|&(r, s)| r == room && step < s);
            started && (joined || !all_joined)
        };
        let mut function = self.graph(main, number, &body, &flow, Some(&window))?;
        function.many = false;
        let counts = function.nodes.iter().any(|node| node.what != What::Nothing);
        Ok(counts.then_some(function))
    }
}

//! While threads run: how many a function may have started, less those that it has waited for.
//!
//! Along every path: a start is one more; who waits for a thread returns when one has ended, and waiting twice for the
//! same one is an error, so it is one less, whichever it is. In a loop, starts are any number, unless its number of
//! iterations is known.

use crate::ir::code::Code;
use crate::ir::flow::Flow;
use crate::ir::inline::{Block, Body, Site, Step};
use crate::ir::library::Effect;
use crate::ir::module::{Op, Terminator, Value};

/// How many threads may run at every step.
pub struct Window {
    /// Before every step of every block.
    running: Vec<Vec<usize>>,
}

/// The steps that start threads.
pub fn starts<'b>(code: &'b Code, body: &'b Body) -> impl Iterator<Item = &'b Step> {
    body.blocks.iter().flat_map(|block| starts_in(code, block))
}

fn starts_in<'b>(code: &'b Code, block: &'b Block) -> impl Iterator<Item = &'b Step> {
    let starts = |step: &&Step| matches!(&step.op, Op::Call(call) if code.effect_of(call).starts());
    block.steps.iter().filter(starts)
}

impl Window {
    /// Looks at a function. Without `closes`, threads that it knows nothing of may go on when it has waited for its own. With
    /// `opens`, calls that were not followed may have started threads that nobody waits for.
    pub fn new(code: &Code, body: &Body, flow: &Flow, closes: bool, opens: bool) -> Window {
        let rounds: Vec<Option<usize>> =
            (0..body.blocks.len()).map(|block| rounds(code, body, block)).collect();
        let many = |block: usize| rounds[block].unwrap_or(1);
        let of = |block: usize| starts_in(code, &body.blocks[block]).count() * many(block);
        let any_number = (0..body.blocks.len()).map(of).sum::<usize>() + 1;
        let mut running: Vec<Vec<usize>> =
            body.blocks.iter().map(|block| vec![0; block.steps.len() + 1]).collect();
        let mut work: Vec<usize> = (0..body.blocks.len()).rev().collect();
        while let Some(number) = work.pop() {
            let block = &body.blocks[number];
            let running_here = &mut running[number];
            for (at, step) in block.steps.iter().enumerate() {
                let before = running_here[at];
                running_here[at + 1] = match &step.op {
                    Op::Call(call) if code.effect_of(call).starts() => {
                        (before + many(number)).min(any_number)
                    }
                    Op::Call(call) if opens && code.effect_of(call) == Effect::Unknown => any_number,
                    Op::Call(call)
                        if closes && before < any_number && code.effect_of(call) == Effect::Joins =>
                    {
                        before.saturating_sub(many(number))
                    }
                    _ => before,
                };
            }
            let behind = running_here[block.steps.len()];
            let thrown = thrown(block).map(|call| running_here[call]);
            for (edge, &to) in flow.successors[number].iter().enumerate() {
                let out = thrown.filter(|_| edge > 0).unwrap_or(behind);
                // All rounds at once.
                let again = to == number && rounds[number].is_some();
                if out > running[to][0] && !again {
                    running[to][0] = out;
                    work.push(to);
                }
            }
        }
        for number in (0..body.blocks.len()).filter(|&number| rounds[number].is_some()) {
            let most = running[number].iter().copied().max().unwrap_or_default();
            running[number].fill(most);
        }
        Window { running }
    }

    /// Whether a thread may run at a step.
    pub fn is_open(&self, block: usize, step: usize) -> bool {
        self.running.get(block).and_then(|block| block.get(step)).is_some_and(|&running| running > 0)
    }
}

/// The call that a block is left at by an exception, which has then neither started a thread nor waited for one.
fn thrown(block: &Block) -> Option<usize> {
    let at = block.steps.len().checked_sub(2)?;
    let [call, end] = &block.steps[at..] else { return None };
    let is_call = matches!((&call.op, &end.op), (Op::Call(_), Op::Terminator(Terminator::Any(_))));
    (is_call && call.site == end.site).then_some(at)
}

/// How often a loop of one block goes round, if it counts up from a number to a number.
fn rounds(code: &Code, body: &Body, number: usize) -> Option<usize> {
    let block = &body.blocks[number];
    let def = |value: &Value| match value {
        Value::Local(local) => block.steps.iter().find(|step| step.result == Some(*local)),
        _ => None,
    };
    let Op::Terminator(Terminator::Branch(condition, yes, no)) = &block.steps.last()?.op else { return None };
    let Op::Compare(how, next, Value::Int(to)) = &def(condition)?.op else { return None };
    let goes_on = match how.as_str() {
        "eq" => *no == number && *yes != number,
        "ne" => *yes == number && *no != number,
        _ => false,
    };
    let sum = def(next)?;
    let Op::Compute(parts) = &sum.op else { return None };
    let [counter, Value::Int(by)] = &parts[..] else { return None };
    let Op::Phi(incoming) = &def(counter)?.op else { return None };
    let [(a, _), (b, _)] = &incoming[..] else { return None };
    let from = match (a, b) {
        (Value::Int(from), round) | (round, Value::Int(from)) if round == next => *from,
        _ => return None,
    };
    let way = to.checked_sub(from)?;
    let counts = goes_on && *by > 0 && way > 0 && way % by == 0 && is_sum(code, sum.site);
    usize::try_from(way / by).ok().filter(|rounds| counts && *rounds < 1 << 20)
}

/// Whether an instruction adds.
fn is_sum(code: &Code, site: Site) -> bool {
    let Site::Before { function, block, index } = site else { return false };
    let find = || {
        let instruction = code.function(function)?.blocks.get(block as usize)?.body.get(index as usize)?;
        code.files.get(function.file as usize)?.text.get(instruction.span.clone())
    };
    find().is_some_and(|text| text.split_whitespace().any(|word| word == "add"))
}

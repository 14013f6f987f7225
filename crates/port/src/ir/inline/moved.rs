//! Behind the start of a `std::thread`: the pointer that it was given is null, so what would be done with it is not.

use super::{Body, Site};
use crate::graph::reachable;
use crate::ir::code::Code;
use crate::ir::library::Effect;
use crate::ir::module::{Local, Offset, Op, Terminator, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Takes the ways out that lead to what is never done.
pub(super) fn cut(code: &Code, body: &mut Body) {
    let mut ways_in = vec![0; body.blocks.len()];
    for block in &body.blocks {
        ends(block.steps.last().map(|step| &step.op)).for_each(|to| ways_in[to] += 1);
    }
    let steps = body.blocks.iter().flat_map(|block| &block.steps);
    let defs: Defs = steps.filter_map(|step| Some((step.result?, &step.op))).collect();
    let mut jumps = Vec::new();
    for (number, block) in body.blocks.iter().enumerate() {
        for (at, step) in block.steps.iter().enumerate() {
            let Op::Call(call) = &step.op else { continue };
            let Effect::Takes(argument) = code.effect_of(call) else { continue };
            let Some(pointer) = call.arguments.get(argument) else { continue };
            jumps.extend(decided((code, &defs), body, &ways_in, (number, at + 1), same(&defs, pointer)));
        }
    }
    if jumps.is_empty() {
        return;
    }
    for (block, to) in jumps {
        if let Some(last) = body.blocks[block].steps.last_mut() {
            last.op = Op::Terminator(Terminator::Jump(to));
        }
    }
    let done = reached(body);
    body.notes.retain(|note| done.contains(&note.site));
}

fn ends(op: Option<&Op>) -> impl Iterator<Item = usize> {
    let next = if let Some(Op::Terminator(end)) = op { end.successors() } else { Vec::new() };
    next.into_iter()
}

/// What defines each value.
type Defs<'b> = FxHashMap<Local, &'b Op>;

/// The first value that is the same address.
fn same<'b>(defs: &Defs<'b>, mut value: &'b Value) -> &'b Value {
    for _ in 0..32 {
        let Value::Local(local) = value else { break };
        match defs.get(local) {
            Some(Op::Copy(from) | Op::Gep { base: from, offset: Offset::ZERO, .. }) => value = from,
            _ => break,
        }
    }
    value
}

/// The block behind a step that ends with a branch on whether a pointer is null, which it is; and where that leads to.
fn decided(
    (code, defs): (&Code, &Defs),
    body: &Body,
    ways_in: &[usize],
    from: (usize, usize),
    pointer: &Value,
) -> Option<(usize, usize)> {
    let (mut number, mut at) = from;
    let mut null: FxHashSet<Local> = FxHashSet::default();
    let mut conditions: FxHashMap<Local, bool> = FxHashMap::default();
    for _ in 0..64 {
        let step = body.blocks.get(number)?.steps.get(at)?;
        at += 1;
        match (&step.op, step.result) {
            (Op::Load { pointer: from, .. }, Some(result)) => {
                if same(defs, from) == pointer {
                    null.insert(result);
                }
            }
            (Op::Compare(how, Value::Local(local), Value::Int(0)), Some(result)) if null.contains(local) => {
                match how.as_str() {
                    "eq" => conditions.insert(result, true),
                    "ne" => conditions.insert(result, false),
                    _ => None,
                };
            }
            (Op::Terminator(Terminator::Branch(Value::Local(condition), yes, no)), _) => {
                let holds = conditions.get(condition)?;
                return Some((number, if *holds { *yes } else { *no }));
            }
            (op @ Op::Terminator(Terminator::Jump(_) | Terminator::Any(_)), _) => {
                // The first way is the one without an exception.
                let next = ends(Some(op)).next().filter(|&next| ways_in[next] == 1)?;
                (number, at) = (next, 0);
            }
            (Op::Call(call), _) if code.effect_of(call) == Effect::None => {}
            (Op::Compare(..) | Op::Copy(_) | Op::Gep { .. } | Op::Compute(_) | Op::Phi(_), _) => {}
            _ => return None,
        }
    }
    None
}

/// The instructions that can be reached.
fn reached(body: &Body) -> FxHashSet<Site> {
    let next = |block: usize| ends(body.blocks[block].steps.last().map(|step| &step.op));
    let reached = reachable(body.blocks.len(), [0], next);
    reached.iter().flat_map(|block| &body.blocks[block].steps).map(|step| step.site).collect()
}

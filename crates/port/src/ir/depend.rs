//! Dependencies: which accesses use what earlier ones have read, in their address, in what they write, or in a branch before
//! them.
//!
//! *Possible* dependencies are found generously: through choices, through memory of the thread's own, through calls that were not
//! followed. *Certain* ones only through values that always carry them.

use super::barrier::Barrier;
use super::code::Code;
use super::flow::Flow;
use super::inline::{Body, Step};
use super::module::{Local, Op, Terminator, Value};
use super::pointers::{Pointers, Root};
use crate::limit::{Deadline, OutOfTime};
use crate::program::{Dependency, DependencyKind, Kind, Node, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The accesses that a value depends on, as blocks and steps, and whether it always does.
type Sources = FxHashMap<(usize, usize), bool>;

/// Threads with more reads than this are too large.
const LARGEST: usize = 1500;

/// Fills in [`Access::depends`](crate::program::Access::depends). False if the thread is too large for that: nothing is filled in.
pub fn fill(
    nodes: &mut [Node],
    origins: &[Option<(usize, usize)>],
    code: &Code,
    (body, flow): (&Body, &Flow),
    pointers: &mut Pointers,
    deadline: Deadline,
) -> Result<bool, OutOfTime> {
    let mut by_step: FxHashMap<(usize, usize), Vec<usize>> = FxHashMap::default();
    for (node, origin) in origins.iter().enumerate() {
        if let (Some(step), NodeKind::Access(access)) = (origin, &nodes[node].kind)
            && access.kind != Kind::Store
        {
            by_step.entry(*step).or_default().push(node);
        }
    }
    if by_step.is_empty() || by_step.len() > LARGEST {
        return Ok(by_step.is_empty());
    }
    let values = Values::new(code, body, pointers, &by_step, deadline)?;
    let controls = values.controls(body, flow);
    // Behind an `isb`, branches and addresses order reads, too. There are few: whichever access it is, it may depend on all.
    let all: Sources = match body.blocks.iter().flat_map(|block| &block.steps).any(|step| is_isb(code, step))
    {
        true => by_step.keys().map(|step| (*step, false)).collect(),
        false => Sources::default(),
    };
    let loops: Vec<(usize, usize)> =
        by_step.keys().copied().filter(|&(r, s)| is_loop(&body.blocks[r].steps[s])).collect();
    for (node, origin) in origins.iter().enumerate() {
        let (Some((block, index)), NodeKind::Access(access)) = (origin, &mut nodes[node].kind) else {
            continue;
        };
        let step = &body.blocks[*block].steps[*index];
        let (address, data) = operands(step);
        let mut add = |sources: &Sources, kind: DependencyKind| {
            for (source, &certain) in sources {
                for &on in by_step.get(source).into_iter().flatten() {
                    access.depends.push(Dependency {
                        on,
                        kind,
                        certain: certain && by_step[source].len() == 1,
                    });
                }
            }
        };
        address.iter().for_each(|value| add(&values.of(value), DependencyKind::Address));
        data.iter().for_each(|value| add(&values.of(value), DependencyKind::Data));
        add(&all, DependencyKind::Address);
        let behind =
            |&&(r, s): &&(usize, usize)| (r == *block && s < *index) || flow.after(r).contains(*block);
        let looped: Sources = loops.iter().filter(behind).map(|&step| (step, false)).collect();
        add(&looped, DependencyKind::Control);
        if let Some(sources) = controls.get(*block) {
            add(sources, DependencyKind::Control);
        }
        access.depends.sort_by_key(|d| (d.on, d.kind as u8, !d.certain));
        access.depends.dedup_by_key(|d| (d.on, d.kind as u8));
    }
    Ok(true)
}

/// Whether a step waits until branches before it are decided.
fn is_isb(code: &Code, step: &Step) -> bool {
    let Op::Call(call) = &step.op else { return false };
    code.barriers_of(call).is_some_and(|found| found.contains(&Barrier::Instructions))
}

/// Whether a step is a loop in which a compare-and-swap branches on what it has read.
fn is_loop(step: &Step) -> bool {
    matches!(step.op, Op::Rmw { loops: true, .. })
}

/// What an access computes its address from, and what it writes.
fn operands(step: &Step) -> (Vec<&Value>, Vec<&Value>) {
    match &step.op {
        Op::Load { pointer, .. } => (vec![pointer], Vec::new()),
        Op::Store { pointer, value, .. } | Op::Rmw { pointer, value, .. } => (vec![pointer], vec![value]),
        Op::CompareExchange { pointer, expected, new, .. } => (vec![pointer], vec![expected, new]),
        Op::Call(call) => (call.arguments.iter().collect(), call.arguments.iter().collect()),
        _ => (Vec::new(), Vec::new()),
    }
}

struct Values {
    of: FxHashMap<Local, Sources>,
}

impl Values {
    fn new(
        code: &Code,
        body: &Body,
        pointers: &mut Pointers,
        accesses: &FxHashMap<(usize, usize), Vec<usize>>,
        deadline: Deadline,
    ) -> Result<Values, OutOfTime> {
        let mut values = Values { of: FxHashMap::default() };
        let all: FxHashSet<(usize, usize)> = accesses.keys().copied().collect();
        // What is kept in memory of the thread's own.
        let mut kept: FxHashMap<Root, Sources> = FxHashMap::default();
        loop {
            let mut changed = false;
            for (r, block) in body.blocks.iter().enumerate() {
                deadline.check("working out dependencies")?;
                for (s, step) in block.steps.iter().enumerate() {
                    if let Op::Store { pointer, value, .. } = &step.op {
                        let from = values.of(value);
                        for (root, _) in pointers.roots(pointer).iter().filter(|_| !from.is_empty()) {
                            changed |= merge(kept.entry(*root).or_default(), &from, false);
                        }
                    }
                    let Some(result) = step.result else { continue };
                    let sources = match &step.op {
                        _ if all.contains(&(r, s)) => Sources::from_iter([((r, s), true)]),
                        Op::Load { pointer, .. } => {
                            let mut sources = weaken(values.of(pointer));
                            for (root, _) in pointers.roots(pointer) {
                                if let Some(more) = kept.get(&root) {
                                    merge(&mut sources, more, false);
                                }
                            }
                            sources
                        }
                        Op::Phi(incoming) => {
                            let all: Vec<Sources> =
                                incoming.iter().map(|(value, _)| values.of(value)).collect();
                            let mut sources = Sources::default();
                            all.iter().for_each(|one| {
                                merge(&mut sources, one, false);
                            });
                            sources
                        }
                        Op::Select(condition, yes, no) => {
                            let mut sources = values.of(condition);
                            merge(&mut sources, &values.of(yes), false);
                            merge(&mut sources, &values.of(no), false);
                            sources
                        }
                        Op::Call(call) if code.effect_of(call).may_throw() => {
                            all.iter().map(|step| (*step, false)).collect()
                        }
                        Op::Call(_) => weaken(values.any(&step.op)),
                        Op::Gep { indices, .. } => {
                            let mut sources = values.any(&step.op);
                            for &index in indices {
                                merge(&mut sources, &values.of(&Value::Local(index)), true);
                            }
                            sources
                        }
                        op => values.any(op),
                    };
                    if !sources.is_empty() {
                        changed |= merge(values.of.entry(result).or_default(), &sources, true);
                    }
                }
            }
            if !changed {
                return Ok(values);
            }
        }
    }

    fn of(&self, value: &Value) -> Sources {
        match value {
            Value::Local(local) => self.of.get(local).cloned().unwrap_or_default(),
            _ => Sources::default(),
        }
    }

    fn any(&self, op: &Op) -> Sources {
        let mut sources = Sources::default();
        for value in op.operands() {
            merge(&mut sources, &self.of(value), true);
        }
        sources
    }

    /// What branches before each block depend on. Possible ones only: a compiler is free to do without a branch.
    fn controls(&self, body: &Body, flow: &Flow) -> Vec<Sources> {
        let mut out = vec![Sources::default(); body.blocks.len()];
        for (r, block) in body.blocks.iter().enumerate() {
            let condition = match block.steps.last().map(|step| &step.op) {
                Some(Op::Terminator(Terminator::Branch(value, ..) | Terminator::Switch(value, _))) => {
                    weaken(self.of(value))
                }
                _ => continue,
            };
            if condition.is_empty() {
                continue;
            }
            for later in flow.after(r).iter() {
                merge(&mut out[later], &condition, true);
            }
        }
        out
    }
}

fn weaken(mut sources: Sources) -> Sources {
    sources.values_mut().for_each(|certain| *certain = false);
    sources
}

/// Adds sources to others; whether there are new ones.
fn merge(into: &mut Sources, from: &Sources, keep: bool) -> bool {
    let mut changed = false;
    for (source, &certain) in from {
        let certain = certain && keep;
        match into.get_mut(source) {
            Some(known) => {
                changed |= certain && !*known;
                *known |= certain;
            }
            None => {
                into.insert(*source, certain);
                changed = true;
            }
        }
    }
    changed
}

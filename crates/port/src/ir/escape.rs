//! Escape analysis: which memory of a thread escapes, when it does, and what is stored in memory that doesn't.
//!
//! An address may be stored in other memory of the thread and not escape by that: it does once that memory escapes. The
//! analysis is insensitive to control flow but for one thing: no other thread sees what happens to memory *before* it
//! escapes.

use super::code::Code;
use super::flow::Flow;
use super::inline::{Body, Step};
use super::library::Effect;
use super::module::{Call, Callee, Local, Offset, Op, Terminator, Value};
use super::pointers::{Pointers, Root};
use crate::bits::Bits;
use crate::limit::{Deadline, OutOfTime};
use rustc_hash::{FxHashMap, FxHashSet};

const DOING: &str = "looking at what threads share";

/// Some memory of the thread's own.
type Roots = FxHashSet<Root>;

/// What is known of a thread's own memory.
#[derive(Default)]
pub struct Escape {
    /// What others can get at: its address is stored where they look, or given away.
    pub roots: Roots,
    /// The steps that give it away.
    given: FxHashMap<Root, Vec<(usize, usize)>>,
    /// For memory that was asked about: the steps of every block where it may have been given away.
    open: FxHashMap<Root, Vec<Vec<Steps>>>,
}

/// Steps of a block, from the first one to the last one, both included.
type Steps = (usize, usize);

/// What is stored in a thread's own memory; `None`: unknown.
pub type Stored = Option<Vec<(Offset, u64, Value)>>;

impl Escape {
    /// Looks at a thread.
    pub fn new(
        code: &Code,
        body: &Body,
        pointers: &mut Pointers,
        deadline: Deadline,
    ) -> Result<Escape, OutOfTime> {
        let flows = Flows::new(code, body, pointers, deadline)?;
        let mut escape = Escape::default();
        loop {
            deadline.check(DOING)?;
            let before = escape.roots.len();
            for (_, step) in steps(body) {
                flows.given(step, pointers, &escape.roots).into_iter().for_each(|root| {
                    escape.roots.insert(root);
                });
            }
            if escape.roots.len() == before {
                break;
            }
        }
        for (at, step) in steps(body) {
            for root in flows.given(step, pointers, &escape.roots) {
                escape.given.entry(root).or_default().push(at);
            }
        }
        Ok(escape)
    }

    /// Whether memory was made by a step, and at another step its address cannot have escaped yet. What is asked about must
    /// be what was made last by that step.
    pub fn hidden(&mut self, root: Root, made: (usize, usize), at: (usize, usize), flow: &Flow) -> bool {
        let given = self.given.get(&root).map_or(&[][..], Vec::as_slice);
        let open = self.open.entry(root).or_insert_with(|| reached(given, made, flow));
        open.get(at.0).is_some_and(|block| !block.iter().any(|(first, last)| (first..=last).contains(&&at.1)))
    }
}

/// The steps behind these that are reached before the memory is made anew.
fn reached(given: &[(usize, usize)], made: (usize, usize), flow: &Flow) -> Vec<Vec<Steps>> {
    let mut out: Vec<Vec<Steps>> = vec![Vec::new(); flow.successors.len()];
    let mut work: Vec<(usize, usize)> = given.iter().map(|&(block, step)| (block, step + 1)).collect();
    while let Some((block, first)) = work.pop() {
        let ends = block == made.0 && first <= made.1;
        let last = if ends { made.1 } else { usize::MAX };
        let Some(known) = out.get_mut(block) else { continue };
        if known.iter().any(|&(f, l)| f <= first && last <= l) {
            continue;
        }
        known.push((first, last));
        if !ends {
            work.extend(flow.successors[block].iter().map(|&next| (next, 0)));
        }
    }
    out
}

fn steps(body: &Body) -> impl Iterator<Item = ((usize, usize), &Step)> {
    body.blocks
        .iter()
        .enumerate()
        .flat_map(|(r, block)| block.steps.iter().enumerate().map(move |(s, step)| ((r, s), step)))
}

/// Where addresses of the thread's own memory go. Memory has numbers here: threads that call much make much of it.
struct Flows<'a> {
    code: &'a Code,
    /// All memory that the thread makes.
    all: Vec<Root>,
    numbers: FxHashMap<Root, usize>,
    /// The memory that each value is the address of, or is computed from.
    of: FxHashMap<Local, Bits>,
    /// The memory whose address is kept in other memory of the thread's own.
    contents: Vec<Bits>,
}

impl<'a> Flows<'a> {
    fn new(
        code: &'a Code,
        body: &Body,
        pointers: &mut Pointers,
        deadline: Deadline,
    ) -> Result<Flows<'a>, OutOfTime> {
        let all: Vec<Root> = steps(body).filter_map(|(_, step)| made(code, step)).collect();
        let numbers = all.iter().enumerate().map(|(number, &root)| (root, number)).collect();
        let contents = vec![Bits::new(all.len()); all.len()];
        let mut flows = Flows { code, all, numbers, of: FxHashMap::default(), contents };
        while steps(body).fold(false, |changed, (_, step)| flows.pass(step, pointers) | changed) {
            deadline.check(DOING)?;
        }
        Ok(flows)
    }

    fn none(&self) -> Bits {
        Bits::new(self.all.len())
    }

    fn value(&self, value: &Value) -> Bits {
        match value {
            Value::Local(local) => self.of.get(local).cloned().unwrap_or_default(),
            _ => Bits::default(),
        }
    }

    fn roots(&self, numbers: &Bits) -> Vec<Root> {
        numbers.iter().filter_map(|number| self.all.get(number).copied()).collect()
    }

    /// The memory that any of these values is computed from.
    fn values<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> Bits {
        let mut out = self.none();
        values.into_iter().for_each(|value| {
            out.add_all(&self.value(value));
        });
        out
    }

    /// The memory that is kept in some other, and in that, and so on.
    fn within(&self, roots: &Bits) -> Bits {
        let mut out = self.none();
        let mut work: Vec<usize> = roots.iter().collect();
        while let Some(root) = work.pop() {
            work.extend(self.contents[root].iter().filter(|&inner| out.insert(inner)));
        }
        out
    }

    /// Lets a step take addresses along; whether anything is new.
    fn pass(&mut self, step: &Step, pointers: &mut Pointers) -> bool {
        let mut changed = false;
        match &step.op {
            Op::Store { value, pointer, .. } | Op::Rmw { value, pointer, .. } => {
                changed |= self.keep(pointer, &self.value(value), pointers);
            }
            Op::CompareExchange { new, pointer, .. } => {
                changed |= self.keep(pointer, &self.value(new), pointers);
            }
            // Whatever it does with its arguments: what is in one may get into another.
            Op::Call(call) if self.code.effect_of(call) != Effect::None => {
                // Who starts a thread keeps nothing but its number in what comes before.
                let first = match self.code.effect_of(call) {
                    Effect::Launches(first) => first,
                    Effect::Takes(_) => usize::MAX,
                    _ => 0,
                };
                let mut all = self.values(call.arguments.iter().skip(first));
                if !all.is_empty() {
                    let inner = self.within(&all);
                    // Who tells others what is in there puts no address of it in there.
                    if self.code.effect_of(call) == Effect::Sends {
                        all = inner;
                    } else {
                        all.add_all(&inner);
                    }
                    for argument in call.arguments.iter().skip(first) {
                        changed |= self.keep(argument, &all, pointers);
                    }
                }
            }
            _ => {}
        }
        let Some(result) = step.result else { return changed };
        let mut roots = self.none();
        match &step.op {
            Op::Alloca => self.number(Root::Stack(result), &mut roots),
            Op::Call(call) if self.code.allocates(call) => {
                self.number(Root::Heap(result), &mut roots);
                let old = self.within(&self.values(&call.arguments));
                for root in roots.iter() {
                    changed |= self.contents[root].add_all(&old);
                }
            }
            Op::Compare(..) => {}
            Op::Load { pointer, .. } | Op::Rmw { pointer, .. } | Op::CompareExchange { pointer, .. } => {
                for root in self.value(pointer).iter() {
                    roots.add_all(&self.contents[root]);
                }
            }
            Op::Call(_) => {
                roots = self.values(step.op.operands());
                roots.add_all(&self.within(&roots));
            }
            op => roots = self.values(op.operands()),
        }
        if !roots.is_empty() {
            changed |= self.of.entry(result).or_insert_with(|| Bits::new(self.all.len())).add_all(&roots);
        }
        changed
    }

    fn number(&self, root: Root, into: &mut Bits) {
        self.numbers.get(&root).into_iter().for_each(|&number| {
            into.insert(number);
        });
    }

    /// Puts addresses into memory of the thread's own.
    fn keep(&mut self, pointer: &Value, what: &Bits, pointers: &mut Pointers) -> bool {
        if what.is_empty() {
            return false;
        }
        // Generously: all that the pointer may be computed from.
        let mut into = self.values([pointer]);
        own(pointer, pointers).into_iter().flatten().for_each(|root| self.number(root, &mut into));
        into.iter().fold(false, |changed, root| self.contents[root].add_all(what) | changed)
    }

    /// The memory that a step gives away, if this much of it is known to others.
    fn given(&self, step: &Step, pointers: &mut Pointers, escaped: &Roots) -> Vec<Root> {
        let stored = |pointer: &Value, values: &[&Value], pointers: &mut Pointers| -> Bits {
            let what = self.values(values.iter().copied());
            if what.is_empty() || is_private(pointer, pointers, escaped) { Bits::default() } else { what }
        };
        let out = match &step.op {
            Op::Store { value, pointer, .. } | Op::Rmw { value, pointer, .. } => {
                stored(pointer, &[value], pointers)
            }
            Op::CompareExchange { expected, new, pointer, .. } => stored(pointer, &[expected, new], pointers),
            Op::Terminator(Terminator::Return(Some(value))) => self.value(value),
            Op::Unknown(_, values) => self.values(values),
            Op::Call(call) => self.given_to(call, pointers, escaped),
            _ => return Vec::new(),
        };
        if out.is_empty() {
            return Vec::new();
        }
        let mut all = self.within(&out);
        all.add_all(&out);
        self.roots(&all)
    }

    fn given_to(&self, call: &Call, pointers: &mut Pointers, escaped: &Roots) -> Bits {
        match self.code.effect_of(call) {
            Effect::Starts(_, argument) => self.values(call.arguments.get(argument)),
            Effect::Launches(first) => self.values(call.arguments.iter().skip(first)),
            Effect::Takes(from) => self.within(&self.values(call.arguments.get(from))),
            Effect::Sends => self.within(&self.values(&call.arguments)),
            Effect::Unknown | Effect::Behind { writes: true } => {
                let kept = |(i, value): (usize, &'_ Value)| (!call.lent.has(i)).then(|| self.value(value));
                // Who only borrows memory may keep what is in there.
                let mut out = self.within(&self.values(&call.arguments));
                call.arguments.iter().enumerate().filter_map(kept).for_each(|roots| {
                    out.add_all(&roots);
                });
                if let Callee::Indirect(value) = &call.callee {
                    out.add_all(&self.value(value));
                }
                out
            }
            Effect::Copies => match (call.arguments.first(), call.arguments.get(1)) {
                (Some(to), Some(from)) if !is_private(to, pointers, escaped) => {
                    self.within(&self.value(from))
                }
                _ => Bits::default(),
            },
            _ => Bits::default(),
        }
    }
}

/// The memory that a step makes.
fn made(code: &Code, step: &Step) -> Option<Root> {
    let result = step.result?;
    match &step.op {
        Op::Alloca => Some(Root::Stack(result)),
        Op::Call(call) if code.allocates(call) => Some(Root::Heap(result)),
        _ => None,
    }
}

/// Whether a pointer goes to memory of the thread's own that others know nothing of.
fn is_private(pointer: &Value, pointers: &mut Pointers, escaped: &Roots) -> bool {
    own(pointer, pointers).is_some_and(|into| into.iter().all(|root| !escaped.contains(root)))
}

/// The memory of the thread's own that a pointer goes to; `None` if it may go elsewhere.
fn own(pointer: &Value, pointers: &mut Pointers) -> Option<Vec<Root>> {
    let roots = pointers.roots(pointer);
    let all_own =
        roots.iter().all(|(root, _)| matches!(root, Root::Stack(_) | Root::Heap(_) | Root::Nowhere));
    let only = |root: Root| matches!(root, Root::Stack(_) | Root::Heap(_)).then_some(root);
    all_own.then(|| roots.into_iter().filter_map(|(root, _)| only(root)).collect())
}

/// What is stored in memory that does not escape, as far as all writes to it are plain stores through its address.
pub fn stored(
    code: &Code,
    body: &Body,
    pointers: &mut Pointers,
    escaped: &FxHashSet<Root>,
    deadline: Deadline,
) -> Result<FxHashMap<Root, Stored>, OutOfTime> {
    let flows = Flows::new(code, body, pointers, deadline)?;
    let mut out: FxHashMap<Root, Stored> = FxHashMap::default();
    for (_, step) in steps(body) {
        match &step.op {
            Op::Alloca => {
                step.result.into_iter().for_each(|local| {
                    out.entry(Root::Stack(local)).or_insert_with(|| Some(Vec::new()));
                });
            }
            Op::Store { pointer, value, size, .. } => {
                let at = pointers.roots(pointer);
                let mut exact = Roots::default();
                for (root, offset) in at {
                    exact.insert(root);
                    if let Some(there) = out.entry(root).or_insert_with(|| Some(Vec::new())) {
                        there.push((offset, *size, value.clone()));
                    }
                }
                let computed = flows.roots(&flows.value(pointer));
                for root in computed.into_iter().filter(|root| !exact.contains(root)) {
                    out.insert(root, None);
                }
            }
            Op::Rmw { pointer, .. } | Op::CompareExchange { pointer, .. } => {
                flows.roots(&flows.value(pointer)).into_iter().for_each(|root| {
                    out.insert(root, None);
                });
            }
            Op::Call(call) if code.effect_of(call) == Effect::None => {}
            Op::Call(call) => {
                for root in flows.roots(&flows.values(&call.arguments)) {
                    out.insert(root, None);
                }
            }
            Op::Unknown(_, values) => {
                flows.roots(&flows.values(values)).into_iter().for_each(|root| {
                    out.insert(root, None);
                });
            }
            _ => {}
        }
    }
    out.retain(|root, _| matches!(root, Root::Stack(_)) && !escaped.contains(root));
    Ok(out)
}

//! Memory of a thread's own: what it gives away, when it does, and what it keeps in there.
//!
//! An address may go into other memory of the thread's own without getting anywhere: whoever gives that away gives the address
//! away, too. Nothing is asked about the order of things here but one: what happens to memory *before* its address is given
//! away happens where nobody else looks.

use super::code::Code;
use super::flow::Flow;
use super::inline::{Body, Step};
use super::library::Effect;
use super::module::{Call, Callee, End, Local, Offset, Op, Value};
use super::pointers::{Pointers, Root};
use rustc_hash::{FxHashMap, FxHashSet};

/// Some memory of the thread's own.
type Roots = FxHashSet<Root>;

/// What is known of a thread's own memory.
#[derive(Default)]
pub struct Escape {
    /// What others can get at: its address is stored where they look, or given away.
    pub roots: Roots,
    /// The steps that give it away.
    given: FxHashMap<Root, Vec<(usize, usize)>>,
    /// For memory that was asked about: the steps of every room where it may have been given away.
    open: FxHashMap<Root, Vec<Vec<Steps>>>,
}

/// Steps of a room, from the first one to the last one, both included.
type Steps = (usize, usize);

/// What is stored in a thread's own memory; `None`: nobody knows.
pub type Stored = Option<Vec<(Offset, u64, Value)>>;

impl Escape {
    /// Looks at a thread.
    pub fn new(code: &Code, body: &Body, pointers: &mut Pointers) -> Escape {
        let flows = Flows::new(code, body, pointers);
        let mut escape = Escape::default();
        loop {
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
        escape
    }

    /// Whether memory was made by a step, and at another step nobody else can have its address yet. What is asked about must
    /// be what was made last by that step.
    pub fn hidden(&mut self, root: Root, made: (usize, usize), at: (usize, usize), flow: &Flow) -> bool {
        let given = self.given.get(&root).map_or(&[][..], Vec::as_slice);
        let open = self.open.entry(root).or_insert_with(|| reached(given, made, flow));
        open.get(at.0).is_some_and(|room| !room.iter().any(|(first, last)| (first..=last).contains(&&at.1)))
    }
}

/// The steps behind these that are reached before the memory is made anew.
fn reached(given: &[(usize, usize)], made: (usize, usize), flow: &Flow) -> Vec<Vec<Steps>> {
    let mut out: Vec<Vec<Steps>> = vec![Vec::new(); flow.next.len()];
    let mut work: Vec<(usize, usize)> = given.iter().map(|&(room, step)| (room, step + 1)).collect();
    while let Some((room, first)) = work.pop() {
        let ends = room == made.0 && first <= made.1;
        let last = if ends { made.1 } else { usize::MAX };
        let Some(known) = out.get_mut(room) else { continue };
        if known.iter().any(|&(f, l)| f <= first && last <= l) {
            continue;
        }
        known.push((first, last));
        if !ends {
            work.extend(flow.next[room].iter().map(|&next| (next, 0)));
        }
    }
    out
}

fn steps(body: &Body) -> impl Iterator<Item = ((usize, usize), &Step)> {
    body.rooms
        .iter()
        .enumerate()
        .flat_map(|(r, room)| room.steps.iter().enumerate().map(move |(s, step)| ((r, s), step)))
}

/// Where addresses of the thread's own memory go.
struct Flows<'a> {
    code: &'a Code,
    /// The memory that each value is the address of, or is computed from.
    of: FxHashMap<Local, Roots>,
    /// The memory whose address is kept in other memory of the thread's own.
    contents: FxHashMap<Root, Roots>,
}

impl<'a> Flows<'a> {
    fn new(code: &'a Code, body: &Body, pointers: &mut Pointers) -> Flows<'a> {
        let mut flows = Flows { code, of: FxHashMap::default(), contents: FxHashMap::default() };
        while steps(body).fold(false, |changed, (_, step)| flows.pass(step, pointers) | changed) {}
        flows
    }

    fn value(&self, value: &Value) -> Roots {
        match value {
            Value::Local(local) => self.of.get(local).cloned().unwrap_or_default(),
            _ => Roots::default(),
        }
    }

    /// The memory that is kept in some other, and in that, and so on.
    fn within(&self, roots: &Roots) -> Roots {
        let mut out = Roots::default();
        let mut work: Vec<Root> = roots.iter().copied().collect();
        while let Some(root) = work.pop() {
            let new = self.contents.get(&root).into_iter().flatten().filter(|inner| out.insert(**inner));
            work.extend(new.copied().collect::<Vec<_>>());
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
                let mut all = Roots::default();
                call.arguments.iter().for_each(|argument| all.extend(self.value(argument)));
                if !all.is_empty() {
                    all.extend(self.within(&all));
                    for argument in &call.arguments {
                        changed |= self.keep(argument, &all, pointers);
                    }
                }
            }
            _ => {}
        }
        let Some(result) = step.result else { return changed };
        let mut roots = Roots::default();
        match &step.op {
            Op::Alloca => {
                roots.insert(Root::Stack(result));
            }
            Op::Call(call) if self.code.allocates(call) => {
                roots.insert(Root::Heap(result));
                let old: Roots = call.arguments.iter().flat_map(|argument| self.value(argument)).collect();
                let old = self.within(&old);
                let kept = self.contents.entry(Root::Heap(result)).or_default();
                let before = kept.len();
                kept.extend(old);
                changed |= kept.len() > before;
            }
            Op::Compare(..) => {}
            Op::Load { pointer, .. } | Op::Rmw { pointer, .. } | Op::CompareExchange { pointer, .. } => {
                for root in self.value(pointer) {
                    roots.extend(self.contents.get(&root).into_iter().flatten().copied());
                }
            }
            Op::Call(_) => {
                step.op.operands().into_iter().for_each(|value| roots.extend(self.value(value)));
                roots.extend(self.within(&roots));
            }
            op => op.operands().into_iter().for_each(|value| roots.extend(self.value(value))),
        }
        if !roots.is_empty() {
            let there = self.of.entry(result).or_default();
            let before = there.len();
            there.extend(roots);
            changed |= there.len() > before;
        }
        changed
    }

    /// Puts addresses into memory of the thread's own.
    fn keep(&mut self, pointer: &Value, what: &Roots, pointers: &mut Pointers) -> bool {
        let mut changed = false;
        if what.is_empty() {
            return false;
        }
        // Generously: all that the pointer may be computed from.
        let mut into = self.value(pointer);
        into.extend(own(pointer, pointers).into_iter().flatten());
        for root in into {
            let kept = self.contents.entry(root).or_default();
            let before = kept.len();
            kept.extend(what.iter().copied());
            changed |= kept.len() > before;
        }
        changed
    }

    /// The memory that a step gives away, if this much of it is known to others.
    fn given(&self, step: &Step, pointers: &mut Pointers, escaped: &Roots) -> Roots {
        let mut out = Roots::default();
        let stored = |pointer: &Value, value: &Value, pointers: &mut Pointers| -> Roots {
            let what = self.value(value);
            if what.is_empty() {
                return what;
            }
            let private =
                own(pointer, pointers).is_some_and(|into| into.iter().all(|r| !escaped.contains(r)));
            if private { Roots::default() } else { what }
        };
        match &step.op {
            Op::Store { value, pointer, .. } | Op::Rmw { value, pointer, .. } => {
                out.extend(stored(pointer, value, pointers));
            }
            Op::CompareExchange { expected, new, pointer, .. } => {
                out.extend(stored(pointer, expected, pointers));
                out.extend(stored(pointer, new, pointers));
            }
            Op::End(End::Return(Some(value))) => out.extend(self.value(value)),
            Op::Unknown(_, values) => values.iter().for_each(|value| out.extend(self.value(value))),
            Op::Call(call) => out.extend(self.given_to(call, pointers, escaped)),
            _ => {}
        }
        let inner = self.within(&out);
        out.extend(inner);
        out
    }

    fn given_to(&self, call: &Call, pointers: &mut Pointers, escaped: &Roots) -> Roots {
        let mut out = Roots::default();
        match self.code.effect_of(call) {
            Effect::Starts(_, argument) => {
                call.arguments.get(argument).into_iter().for_each(|value| out.extend(self.value(value)));
            }
            Effect::Unknown | Effect::Behind { writes: true } => {
                for (i, value) in call.arguments.iter().enumerate() {
                    let roots = self.value(value);
                    // Who only borrows memory may keep what is in there.
                    out.extend(self.within(&roots));
                    if !call.lent.has(i) {
                        out.extend(roots);
                    }
                }
                if let Callee::Indirect(value) = &call.callee {
                    out.extend(self.value(value));
                }
            }
            Effect::Copies => {
                let (Some(to), Some(from)) = (call.arguments.first(), call.arguments.get(1)) else {
                    return out;
                };
                let private = own(to, pointers).is_some_and(|into| into.iter().all(|r| !escaped.contains(r)));
                if !private {
                    out.extend(self.within(&self.value(from)));
                }
            }
            _ => {}
        }
        out
    }
}

/// The memory of the thread's own that a pointer goes to; `None` if it may go elsewhere.
fn own(pointer: &Value, pointers: &mut Pointers) -> Option<Vec<Root>> {
    let roots = pointers.roots(pointer);
    let all_own =
        roots.iter().all(|(root, _)| matches!(root, Root::Stack(_) | Root::Heap(_) | Root::Nowhere));
    let only = |root: Root| matches!(root, Root::Stack(_) | Root::Heap(_)).then_some(root);
    all_own.then(|| roots.into_iter().filter_map(|(root, _)| only(root)).collect())
}

/// What is stored in memory that nobody else can get at, as far as all writes to it are plain stores through its address.
pub fn stored(
    code: &Code,
    body: &Body,
    pointers: &mut Pointers,
    escaped: &FxHashSet<Root>,
) -> FxHashMap<Root, Stored> {
    let flows = Flows::new(code, body, pointers);
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
                for root in flows.value(pointer).into_iter().filter(|root| !exact.contains(root)) {
                    out.insert(root, None);
                }
            }
            Op::Rmw { pointer, .. } | Op::CompareExchange { pointer, .. } => {
                flows.value(pointer).into_iter().for_each(|root| {
                    out.insert(root, None);
                });
            }
            Op::Call(call) if code.effect_of(call) == Effect::None => {}
            Op::Call(call) => {
                for root in call.arguments.iter().flat_map(|value| flows.value(value)) {
                    out.insert(root, None);
                }
            }
            Op::Unknown(_, values) => {
                values.iter().flat_map(|value| flows.value(value)).for_each(|root| {
                    out.insert(root, None);
                });
            }
            _ => {}
        }
    }
    out.retain(|root, _| matches!(root, Root::Stack(_)) && !escaped.contains(root));
    out
}

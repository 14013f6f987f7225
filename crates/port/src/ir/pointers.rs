//! Where pointers come from: the object, and how far into it.
//!
//! A pointer is followed back through addresses of fields, casts, choices and loops to its *roots*: a global, a stack slot,
//! fresh memory, a parameter, or a value of unknown origin (loaded, returned, computed). With each root goes the
//! distance from it. Loops that walk through memory make a distance known only up to multiples of the stride.

use super::code::{Code, Object};
use super::escape::Stored;
use super::inline::Body;
use super::library::Effect;
use super::module::{Local, Offset, Op, Value};
use rustc_hash::FxHashMap;

/// Where a pointer comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Root {
    /// A global.
    Global(Object),
    /// A stack slot: the value that is its address.
    Stack(Local),
    /// Fresh memory: the value that is its address.
    Heap(Local),
    /// Any other value, parameters among them.
    Value(Local),
    /// A number: the distance is the address.
    Fixed,
    /// Null, or nothing at all: it is never accessed.
    Nowhere,
    /// Too much to say.
    Unknown,
}

/// What a pointer can be.
pub type Pointer = Vec<(Root, Offset)>;

/// More roots than this are called unknown.
const ROOTS: usize = 8;

/// Finds roots, and remembers them.
pub struct Pointers<'a> {
    code: &'a Code,
    body: &'a Body,
    /// Where each value is defined.
    defs: Vec<Option<(u32, u32)>>,
    known: FxHashMap<Local, Pointer>,
    /// What is stored in memory that does not escape.
    stored: FxHashMap<Root, Stored>,
    /// How many more values may be looked at for the present question.
    fuel: u32,
}

/// Loops in loops make for many ways to a root.
const FUEL: u32 = 5000;

impl<'a> Pointers<'a> {
    /// Looks at a thread.
    pub fn new(code: &'a Code, body: &'a Body) -> Pointers<'a> {
        let mut defs = vec![None; body.values as usize];
        for (r, block) in body.blocks.iter().enumerate() {
            for (s, step) in block.steps.iter().enumerate() {
                if let Some(def) = step.result.and_then(|local| defs.get_mut(local as usize)) {
                    *def = Some((r as u32, s as u32));
                }
            }
        }
        Pointers { code, body, defs, known: FxHashMap::default(), stored: FxHashMap::default(), fuel: 0 }
    }

    /// Says what is stored in memory that does not escape.
    pub fn keep(&mut self, stored: FxHashMap<Root, Stored>) {
        self.stored = stored;
        self.known.clear();
    }

    /// The step that has just made the memory that a value points into, and its result: through addresses of fields and
    /// copies only, so that it is not what the same step made the last time.
    pub fn made_by(&self, value: &Value) -> Option<(Local, (usize, usize))> {
        let mut value = value;
        for _ in 0..64 {
            let Value::Local(local) = value else { return None };
            value = match self.def(*local)? {
                Op::Gep { base, .. } | Op::Copy(base) => base,
                Op::Phi(incoming) => match &incoming[..] {
                    [(only, _)] => only,
                    _ => return None,
                },
                Op::Alloca => return Some((*local, self.place(*local)?)),
                Op::Call(call) if self.code.allocates(call) => return Some((*local, self.place(*local)?)),
                Op::Call(call) => match self.code.effect_of(call) {
                    Effect::Returns => call.arguments.first()?,
                    _ => return None,
                },
                _ => return None,
            };
        }
        None
    }

    /// The block and the step that define a value; `None` for parameters.
    pub fn place(&self, local: Local) -> Option<(usize, usize)> {
        let (block, step) = (*self.defs.get(local as usize)?)?;
        Some((block as usize, step as usize))
    }

    /// What defines a value; `None` for parameters.
    pub fn def(&self, local: Local) -> Option<&'a Op> {
        let (block, step) = self.place(local)?;
        Some(&self.body.blocks.get(block)?.steps.get(step)?.op)
    }

    /// The roots of a value.
    pub fn roots(&mut self, value: &Value) -> Pointer {
        self.fuel = FUEL;
        self.find(value, &mut Vec::new()).0
    }

    /// The roots of a value while others are being looked at. False: the answer leans on one of those, and holds only there.
    fn find(&mut self, value: &Value, open: &mut Vec<Local>) -> (Pointer, bool) {
        let local = match value {
            Value::Local(local) => *local,
            Value::Address(object, offset) => return (vec![(Root::Global(*object), *offset)], true),
            Value::Int(0) => return (vec![(Root::Nowhere, Offset::ZERO)], true),
            Value::Int(address) => return (vec![(Root::Fixed, Offset { at: *address, every: 0 })], true),
            Value::Constant(objects) if objects.is_empty() => {
                return (vec![(Root::Nowhere, Offset::ZERO)], true);
            }
            Value::Constant(objects) => {
                return (tidy(objects.iter().map(|&o| (Root::Global(o), Offset::ANY)).collect()), true);
            }
        };
        if let Some(known) = self.known.get(&local) {
            return (known.clone(), true);
        }
        // Itself, round a loop: a root of its own until the loop is closed.
        if open.contains(&local) {
            return (vec![(Root::Value(local), Offset::ZERO)], false);
        }
        self.fuel = self.fuel.saturating_sub(1);
        if open.len() > 400 || self.fuel == 0 {
            return (vec![(Root::Unknown, Offset::ANY)], false);
        }
        open.push(local);
        let (mut roots, mut whole) = self.look(local, open);
        open.pop();
        let itself = Root::Value(local);
        if roots.len() > 1 && roots.iter().any(|(root, _)| *root == itself) {
            // Ways round the loop back to itself: how far each goes is the stride.
            let strides: Vec<Offset> =
                roots.iter().filter(|(root, _)| *root == itself).map(|(_, o)| *o).collect();
            roots.retain(|(root, _)| *root != itself);
            for (_, offset) in &mut roots {
                for stride in &strides {
                    *offset = offset.or(offset.plus(*stride));
                }
            }
            roots = tidy(roots);
        }
        whole |= open.is_empty();
        if whole {
            self.known.insert(local, roots.clone());
        }
        (roots, whole)
    }

    fn look(&mut self, local: Local, open: &mut Vec<Local>) -> (Pointer, bool) {
        let itself = || (vec![(Root::Value(local), Offset::ZERO)], true);
        match self.def(local) {
            Some(Op::Alloca) => (vec![(Root::Stack(local), Offset::ZERO)], true),
            Some(Op::Copy(from)) => self.find(from, open),
            Some(Op::Gep { base, offset, .. }) => {
                let (mut roots, whole) = self.find(base, open);
                for (root, at) in &mut roots {
                    *at = at.plus(*offset);
                    // So far behind null is an address like any other.
                    if *root == Root::Nowhere && *at != Offset::ZERO {
                        *root = Root::Fixed;
                    }
                }
                (tidy(roots), whole)
            }
            Some(Op::Phi(incoming)) => {
                let values: Vec<&Value> = incoming.iter().map(|(value, _)| value).collect();
                self.any(&values, open)
            }
            Some(Op::Select(_, yes, no)) => self.any(&[yes, no], open),
            Some(Op::Load { pointer, size, .. }) => self.loaded(local, pointer, *size, open),
            Some(Op::Call(call)) if self.code.allocates(call) => {
                (vec![(Root::Heap(local), Offset::ZERO)], true)
            }
            Some(Op::Call(call)) => match self.code.effect_of(call) {
                Effect::Returns => match call.arguments.first() {
                    Some(first) => self.find(first, open),
                    None => itself(),
                },
                _ => itself(),
            },
            _ => itself(),
        }
    }

    /// What is loaded from memory that does not escape is what was stored there.
    fn loaded(&mut self, local: Local, pointer: &Value, size: u64, open: &mut Vec<Local>) -> (Pointer, bool) {
        let itself = vec![(Root::Value(local), Offset::ZERO)];
        if self.stored.is_empty() {
            return (itself, true);
        }
        let (from, mut all) = self.find(pointer, open);
        let mut values = Vec::new();
        for (root, offset) in from {
            let Some(Some(stored)) = self.stored.get(&root) else { return (itself, all) };
            for (at, length, value) in stored {
                let same = *at == offset && *length == size && size > 0 && at.every == 0;
                if same {
                    values.push(value.clone());
                } else if *length == 0 || size == 0 || at.overlaps(*length, offset, size) {
                    return (itself, all);
                }
            }
        }
        let mut out = Vec::new();
        for value in &values {
            let (roots, whole) = self.find(value, open);
            out.extend(roots);
            all &= whole;
        }
        (if out.is_empty() { itself } else { tidy(out) }, all)
    }

    fn any(&mut self, values: &[&Value], open: &mut Vec<Local>) -> (Pointer, bool) {
        let mut out = Vec::new();
        let mut all = true;
        for value in values {
            let (roots, whole) = self.find(value, open);
            out.extend(roots);
            all &= whole;
        }
        (tidy(out), all)
    }
}

/// Each root once, and not too many of them.
fn tidy(mut roots: Pointer) -> Pointer {
    roots.sort_unstable();
    let mut out: Pointer = Vec::new();
    for (root, offset) in roots {
        match out.last_mut() {
            Some((last, known)) if *last == root => *known = known.or(offset),
            _ => out.push((root, offset)),
        }
    }
    // What points nowhere is not accessed.
    if out.len() > 1 {
        out.retain(|(root, _)| *root != Root::Nowhere);
    }
    if out.len() > ROOTS || out.iter().any(|(root, _)| *root == Root::Unknown) {
        return vec![(Root::Unknown, Offset::ANY)];
    }
    out
}

//! Where an instruction touches memory: the class of its address.

use super::{Lower, ThreadContext};
use crate::ir::classes::{Class, Hints, Origin};
use crate::ir::code::{FunctionId, is_stream};
use crate::ir::debug;
use crate::ir::module::{Local, Offset, Op, Value};
use crate::ir::pointers::Root;

impl Lower<'_> {
    /// The class of an address; `None` if only this thread can get there, or it is never written.
    pub(super) fn class(
        &mut self,
        context: &mut ThreadContext,
        pointer: &Value,
        size: u64,
        more: Offset,
    ) -> Option<Class> {
        let roots = context.pointers.roots(pointer);
        let mut at = Vec::new();
        let mut stable = true;
        for (root, offset) in roots {
            let offset = offset.plus(more);
            let once = |local: Local| {
                let place = context.pointers.place(local);
                !self.again && place.is_none_or(|(block, _)| !context.flow.repeats(block))
            };
            match root {
                Root::Nowhere => {}
                Root::Fixed => at.push((Origin::Fixed, offset)),
                Root::Global(object) => {
                    let known = self.code.objects.get(object as usize)?;
                    if known.constant || known.thread_local && !known.leaks {
                        continue;
                    }
                    stable &= !known.thread_local;
                    at.push((Origin::Global(object), offset));
                }
                Root::Stack(local) | Root::Heap(local) if context.escape.roots.contains(&root) => {
                    stable &= once(local);
                    at.push((Origin::Own(context.number, local), offset));
                }
                Root::Stack(_) | Root::Heap(_) => {}
                Root::Value(local) if self.is_stream(context, local) => self.assumptions.streams = true,
                Root::Value(local) => {
                    stable &= once(local);
                    let passed = self.passed(context, local);
                    if passed.is_empty() {
                        at.push((Origin::Value(context.number, local), offset));
                    }
                    at.extend(passed.into_iter().map(|(origin, before)| (origin, before.plus(offset))));
                }
                Root::Unknown => {
                    stable = false;
                    at.push((Origin::Unknown, Offset::ANY));
                }
            }
        }
        at.sort_unstable();
        at.dedup();
        if at.is_empty() {
            return None;
        }
        let hints = self.hints(context, pointer, more);
        let hidden = self.hidden(context, pointer);
        Some(Class { at, size, hints, stable, hidden })
    }

    /// Whether a pointer goes to memory that the thread has asked for, and whose address it has not given away yet. Not on the
    /// stack: there, memory is made anew where others may have known it, and no allocator stands between.
    fn hidden(&self, context: &mut ThreadContext, pointer: &Value) -> bool {
        let Some((local, made)) = context.pointers.made_by(pointer) else { return false };
        match context.pointers.roots(pointer)[..] {
            [(root @ Root::Heap(own), _)] if own == local => {
                context.escape.hidden(root, made, context.at, context.flow)
            }
            _ => false,
        }
    }

    /// Whether a value is a stream of the C library.
    fn is_stream(&self, context: &ThreadContext, local: Local) -> bool {
        let Some(Op::Load { pointer: Value::Address(object, _), .. }) = context.pointers.def(local) else {
            return false;
        };
        self.code.objects.get(*object as usize).is_some_and(|object| is_stream(&object.name))
    }

    /// What the thread's argument is, if all places are known where the thread is started.
    fn passed(&self, context: &ThreadContext, local: Local) -> Vec<(Origin, Offset)> {
        if local != 0 || context.body.parameters == 0 || self.options.client {
            return Vec::new();
        }
        let mut out = Vec::new();
        for start in self.starts.get(&context.function).into_iter().flatten() {
            match &start.argument {
                Value::Address(symbol, offset) => {
                    let (object, offset) = self.code.address(start.by.file, *symbol, *offset);
                    out.push((Origin::Global(object), offset));
                }
                Value::Int(0) => {}
                Value::Int(number) => out.push((Origin::Fixed, Offset { at: *number, every: 0 })),
                Value::Local(local) => match self.own_memory(start.by, *local) {
                    Some((made, offset)) => out.push((Origin::Passed(start.by, made), offset)),
                    None => return Vec::new(),
                },
                Value::Constant(_) => return Vec::new(),
            }
        }
        out
    }

    /// Whether a value is memory that a function has made: the value that is its address, and how far into it.
    fn own_memory(&self, by: FunctionId, mut local: Local) -> Option<(Local, Offset)> {
        let function = self.code.function(by)?;
        let mut offset = Offset::ZERO;
        for _ in 0..32 {
            let mut all = function.blocks.iter().flat_map(|block| &block.body);
            let base = match &all.find(|instruction| instruction.result == Some(local))?.op {
                Op::Alloca => return Some((local, offset)),
                Op::Call(call) if self.code.effect(by.file, call).allocates() => {
                    return Some((local, offset));
                }
                Op::Copy(base) => base,
                Op::Gep { base, offset: more, .. } => {
                    offset = offset.plus(*more);
                    base
                }
                _ => return None,
            };
            let Value::Local(next) = base else { return None };
            local = *next;
        }
        None
    }

    /// What else is known of an address.
    fn hints(&self, context: &ThreadContext, pointer: &Value, more: Offset) -> Hints {
        let mut hints = Hints::default();
        let mut value = pointer;
        let mut offset = more;
        for _ in 0..64 {
            let Value::Local(local) = value else { break };
            if let Some(&align) = context.body.aligns.get(local)
                && offset.every == 0
                && align > hints.aligned.0
            {
                hints.aligned = (align, offset.at.rem_euclid(align.min(1 << 32) as i64) as u64);
            }
            if let Some(&(file, number)) = context.body.pointees.get(local)
                && let Some(file) = self.code.files.get(file as usize)
                && let Some(node) = debug::node(&file.text, &file.module, number)
                && let Some(size) = debug::size(&file.text, &file.module, number)
            {
                let unique = debug::field(node, "identifier").unwrap_or_default();
                if let Some(name) = debug::field(node, "name").filter(|_| hints.inside.len() < 4) {
                    hints.inside.push((format!("{name}\0{unique}"), size, offset));
                }
            }
            value = match context.pointers.def(*local) {
                Some(Op::Gep { base, offset: further, .. }) => {
                    offset = offset.plus(*further);
                    base
                }
                Some(Op::Copy(base)) => base,
                _ => break,
            };
        }
        hints
    }
}

//! What one instruction does to memory.

use super::blocks::is_retried;
use super::{Lower, ThreadContext, is_exit};
use crate::ir::barrier::Barrier;
use crate::ir::classes::Class;
use crate::ir::inline::Step;
use crate::ir::library::{self, Effect, keeps_locks};
use crate::ir::module::{Call, Callee, Local, Offset, Op, Value};
use crate::machine::Fence;
use crate::program::{Access, Kind, NodeKind};
use seqcst_model::Mode;

/// What memory sees of a step.
#[derive(Default)]
pub(super) struct Events {
    /// One after the other.
    pub all: Vec<NodeKind>,
    /// All of them again and again, in pieces of unknown size: what is copied goes byte by byte.
    pub again: bool,
}

impl Lower<'_> {
    /// What memory sees of a step.
    pub(super) fn events(&mut self, context: &mut ThreadContext, step: &Step) -> Events {
        let one = |access: Option<Access>| access.map(NodeKind::Access).into_iter().collect();
        let all = match &step.op {
            Op::Load { pointer, size, order, volatile } => {
                one(self.access(context, pointer, *size, Kind::Load, *order, *volatile))
            }
            Op::Store { pointer, size, order, volatile, .. } => {
                one(self.access(context, pointer, *size, Kind::Store, *order, *volatile))
            }
            Op::Rmw { pointer, size, order, .. } => {
                one(self.access(context, pointer, *size, Kind::Rmw, *order, false))
            }
            Op::CompareExchange { pointer, size, success, failure, weak, .. } => {
                if *weak && !is_retried(context) {
                    self.gives_up.insert(step.site);
                }
                let access = self.access(context, pointer, *size, Kind::Cas, *success, false);
                one(access.map(|access| Access { failure: *failure, ..access }))
            }
            Op::Fence(order) => vec![NodeKind::Fence(*order)],
            Op::Unknown(name, _) => {
                self.assumptions.calls = true;
                vec![self.opaque(name.clone(), None, true)]
            }
            Op::Call(call) => return self.called(context, call, step.result),
            _ => Vec::new(),
        };
        Events { all, again: false }
    }

    /// An access, unless it is to memory that only this thread knows and orders nothing there.
    fn access(
        &mut self,
        context: &mut ThreadContext,
        pointer: &Value,
        size: u64,
        kind: Kind,
        order: Mode,
        volatile: bool,
    ) -> Option<Access> {
        if self.options.atomics_only && order == Mode::NonAtomic && !volatile {
            return self.left_out(context, pointer, size, Offset::ZERO);
        }
        let class = self.class(context, pointer, size, Offset::ZERO);
        let (failure, depends) = (Mode::Relaxed, Vec::new());
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let access = Access { kind, order, failure, location: 0, size, volatile, depends };
        let class = class.or_else(|| access.orders_others().then(Class::private))?;
        Some(Access { location: self.classes.number(class), ..access })
    }

    /// Leaves out a plain access, but keeps in mind that it is there, if others can get at its memory.
    fn left_out<T>(
        &mut self,
        context: &mut ThreadContext,
        pointer: &Value,
        size: u64,
        more: Offset,
    ) -> Option<T> {
        // What is left out gives no occasion to assume anything.
        let assumed = self.assumptions;
        context.left_out |= self.class(context, pointer, size, more).is_some();
        self.assumptions = assumed;
        None
    }

    /// Reads of a call, of some of what a pointer points at, or of anything: they may be atomic.
    fn reads(&mut self, context: &mut ThreadContext, pointer: Option<&Value>) -> Option<NodeKind> {
        let class = match pointer {
            Some(pointer) => self.class(context, pointer, 0, Offset::ANY)?,
            None => Class::anything(),
        };
        Some(self.of_call(class, Kind::Load, Mode::Relaxed))
    }

    /// A plain access of a call to some of what a pointer points at.
    fn somewhere(&mut self, context: &mut ThreadContext, pointer: &Value, kind: Kind) -> Option<NodeKind> {
        self.bytes(context, pointer, 0, Offset::ANY, kind)
    }

    /// A plain access of a call to so many bytes there; in pieces of unknown size, unless one instruction can do it.
    fn bytes(
        &mut self,
        context: &mut ThreadContext,
        pointer: &Value,
        length: u64,
        from: Offset,
        kind: Kind,
    ) -> Option<NodeKind> {
        if self.options.atomics_only {
            return self.left_out(context, pointer, length, from);
        }
        let mut class = self.class(context, pointer, length, from)?;
        class.stable &= !in_pieces(length);
        Some(self.of_call(class, kind, Mode::NonAtomic))
    }

    /// An access inside a call. Its size is large: no instruction of the text can be made stronger for it.
    fn of_call(&mut self, class: Class, kind: Kind, order: Mode) -> NodeKind {
        let (location, size) = (self.classes.number(class), u32::MAX);
        let (failure, volatile, depends) = (Mode::Relaxed, false, Vec::new());
        NodeKind::Access(Access { kind, order, failure, location, size, volatile, depends })
    }

    /// Everything that other threads can see, or what is at `class`.
    fn opaque(&mut self, name: String, class: Option<Class>, fences: bool) -> NodeKind {
        let location = self.classes.number(class.unwrap_or_else(Class::anything));
        NodeKind::Opaque { name, location, fences }
    }

    /// What a call does that was not followed.
    fn called(&mut self, context: &mut ThreadContext, call: &Call, result: Option<Local>) -> Events {
        let name = match &call.callee {
            Callee::Direct(object) => {
                self.code.objects.get(*object as usize).map(|object| object.name.clone()).unwrap_or_default()
            }
            Callee::Indirect(_) => "a pointer to a function".to_owned(),
            Callee::Assembly(..) => "assembly".to_owned(),
        };
        let length = match call.arguments.get(2) {
            Some(Value::Int(length)) => u64::try_from(*length).unwrap_or(0),
            _ => 0,
        };
        let effect = self.code.effect_of(call);
        // The inside of a standard library is not ported with the program; of others, their authors look after the inside.
        let by_name = library::effect(&name) != Effect::Unknown;
        let again = match effect {
            Effect::Copies | Effect::Fills => in_pieces(length),
            Effect::Arguments => !keeps_locks(&name),
            Effect::Sends => true,
            Effect::Behind { .. } => by_name,
            _ => effect == Effect::Duplicates,
        };
        self.assumptions.allocators |= self.code.allocates(call);
        self.assumptions.calls |=
            !by_name && matches!(effect, Effect::Unknown | Effect::Reads | Effect::Behind { .. });
        let mut all: Vec<NodeKind> = match effect {
            Effect::Orders => {
                let found = self.code.barriers_of(call).unwrap_or_default();
                found.into_iter().map(fence).filter(|what| *what != NodeKind::Nothing).collect()
            }
            Effect::AllocatesFilled | Effect::Duplicates | Effect::Reallocates => {
                let old = call.arguments.first().filter(|_| effect != Effect::AllocatesFilled);
                let read = old.and_then(|old| self.somewhere(context, old, Kind::Load));
                let new = result.map(Value::Local);
                let written = new.and_then(|new| self.somewhere(context, &new, Kind::Store));
                read.into_iter().chain(written).collect()
            }
            // A place for what is called then.
            Effect::Ends if is_exit(&name) => vec![NodeKind::Nothing],
            Effect::None | Effect::Ends | Effect::Allocates | Effect::Returns => Vec::new(),
            Effect::Copies => {
                let to_and_from = [(1, Kind::Load), (0, Kind::Store)].into_iter();
                let pointers = to_and_from.filter_map(|(at, kind)| Some((call.arguments.get(at)?, kind)));
                pointers
                    .filter_map(|(at, kind)| self.bytes(context, at, length, Offset::ZERO, kind))
                    .collect()
            }
            Effect::Fills => {
                let to = call.arguments.first();
                let written = to.and_then(|to| self.bytes(context, to, length, Offset::ZERO, Kind::Store));
                written.into_iter().collect()
            }
            Effect::Access(argument, kind, order) => {
                let pointer = call.arguments.get(argument);
                let access = pointer.and_then(|to| self.access(context, to, 1, kind, order, false));
                // Large: no instruction of the text that could be made stronger.
                access
                    .map(|access| NodeKind::Access(Access { size: u32::MAX, ..access }))
                    .into_iter()
                    .collect()
            }
            // Starting a thread: what came before is seen by it. Accesses of other threads see no difference.
            Effect::Starts(..) | Effect::Launches(_) | Effect::Takes(_) => Vec::new(),
            Effect::Behind { writes: false } => {
                let pointers: Vec<&Value> = (0..)
                    .zip(&call.arguments)
                    .filter(|(i, _)| !call.numbers.has(*i))
                    .map(|(_, v)| v)
                    .collect();
                pointers.into_iter().filter_map(|pointer| self.reads(context, Some(pointer))).collect()
            }
            Effect::Reads => self.reads(context, None).into_iter().collect(),
            Effect::Arguments | Effect::Sends | Effect::Joins | Effect::Behind { writes: true } => {
                let stream = library::stream(&name);
                self.assumptions.streams |= stream.is_some();
                let counts = |i: usize| !call.numbers.has(i) && stream != Some(i);
                let pointers = call.arguments.iter().enumerate().filter(|(i, _)| counts(*i));
                let classes: Vec<Class> =
                    pointers.filter_map(|(_, value)| self.class(context, value, 0, Offset::ANY)).collect();
                let all = classes.into_iter().map(|class| self.opaque(name.clone(), Some(class), !by_name));
                all.collect()
            }
            Effect::Unknown | Effect::Calls(_) => vec![self.opaque(name.clone(), None, true)],
        };
        // One that goes to memory that nobody else knows may be a fence all the same.
        let unseen = effect == Effect::Behind { writes: true } && !by_name && all.is_empty();
        if unseen || library::may_fence(&name) {
            all.push(NodeKind::MayFence);
        }
        Events { again: again && !all.is_empty(), all }
    }
}

/// Whether so many bytes (0: an unknown number) may take several instructions.
fn in_pieces(length: u64) -> bool {
    !matches!(length, 1 | 2 | 4 | 8)
}

/// What a fence instruction is to memory.
fn fence(barrier: Barrier) -> NodeKind {
    match barrier {
        Barrier::Fence(Fence::Full) => NodeKind::Fence(Mode::SeqCst),
        Barrier::Fence(Fence::Load) => NodeKind::Fence(Mode::Acquire),
        Barrier::Fence(Fence::Store) => NodeKind::StoreFence,
        // What it adds to branches is among the dependencies.
        Barrier::Instructions => NodeKind::Nothing,
    }
}

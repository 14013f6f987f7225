//! What one instruction does to memory.

use super::{Looking, Lower};
use crate::ir::barrier::Barrier;
use crate::ir::classes::Class;
use crate::ir::inline::Step;
use crate::ir::library::{self, Effect, keeps_locks};
use crate::ir::module::{Call, Callee, Local, Offset, Op, Ordering, Value};
use crate::machine::Fence;
use crate::program::{Access, Kind, Order, What};

/// What memory sees of a step.
#[derive(Default)]
pub(super) struct Events {
    /// One after the other.
    pub all: Vec<What>,
    /// All of them again and again, in pieces that nobody knows: what is copied goes byte by byte.
    pub again: bool,
}

impl Lower<'_> {
    /// What memory sees of a step.
    pub(super) fn events(&mut self, looking: &mut Looking, step: &Step) -> Events {
        let one = |access: Option<Access>| access.map(What::Access).into_iter().collect();
        let all = match &step.op {
            Op::Load { pointer, size, order, volatile } => {
                let order = self.order(*order);
                one(self.access(looking, pointer, *size, Kind::Load, order, *volatile))
            }
            Op::Store { pointer, size, order, volatile, .. } => {
                let order = self.order(*order);
                one(self.access(looking, pointer, *size, Kind::Store, order, *volatile))
            }
            Op::Rmw { pointer, size, order, .. } => {
                let order = self.order(Some(*order));
                one(self.access(looking, pointer, *size, Kind::Rmw, order, false))
            }
            Op::CompareExchange { pointer, size, success, failure, .. } => {
                let (order, failure) = (self.order(Some(*success)), self.order(Some(*failure)));
                let access = self.access(looking, pointer, *size, Kind::Cas, order, false);
                one(access.map(|access| Access { failure, ..access }))
            }
            Op::Fence(order) => vec![What::Fence(self.order(Some(*order)))],
            Op::Unknown(name, _) => {
                self.taken.calls = true;
                vec![self.opaque(name.clone(), None)]
            }
            Op::Call(call) => return self.called(looking, call, step.result),
            _ => Vec::new(),
        };
        Events { all, again: false }
    }

    fn order(&self, order: Option<Ordering>) -> Order {
        match order {
            None => Order::Plain,
            Some(Ordering::Unordered | Ordering::Monotonic) => Order::Relaxed,
            Some(Ordering::Acquire) => Order::Acquire,
            Some(Ordering::Release) => Order::Release,
            Some(Ordering::AcquireRelease) => Order::AcqRel,
            Some(Ordering::SequentiallyConsistent) => Order::SeqCst,
        }
    }

    /// An access, unless it is to memory that only this thread knows.
    fn access(
        &mut self,
        looking: &mut Looking,
        pointer: &Value,
        size: u64,
        kind: Kind,
        order: Order,
        volatile: bool,
    ) -> Option<Access> {
        if self.options.atomics_only && order == Order::Plain && !volatile {
            return None;
        }
        let class = self.class(looking, pointer, size, Offset::ZERO)?;
        let location = self.classes.number(class);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        Some(Access { kind, order, failure: Order::Relaxed, location, size, volatile, depends: Vec::new() })
    }

    /// Reads of a call, of some of what a pointer points at, or of anything: they may be atomic.
    fn reads(&mut self, looking: &mut Looking, pointer: Option<&Value>) -> Option<What> {
        let class = match pointer {
            Some(pointer) => self.class(looking, pointer, 0, Offset::ANY)?,
            None => Class::anything(),
        };
        let location = self.classes.number(class);
        let (kind, order, failure, size) = (Kind::Load, Order::Relaxed, Order::Relaxed, u32::MAX);
        Some(What::Access(Access {
            kind,
            order,
            failure,
            location,
            size,
            volatile: false,
            depends: Vec::new(),
        }))
    }

    /// A plain access of a call to some of what a pointer points at.
    fn somewhere(&mut self, looking: &mut Looking, pointer: &Value, kind: Kind) -> Option<What> {
        self.bytes(looking, pointer, 0, Offset::ANY, kind)
    }

    /// A plain access of a call to so many bytes there; in pieces that nobody knows, unless one instruction can do it.
    fn bytes(
        &mut self,
        looking: &mut Looking,
        pointer: &Value,
        length: u64,
        from: Offset,
        kind: Kind,
    ) -> Option<What> {
        if self.options.atomics_only {
            return None;
        }
        let mut class = self.class(looking, pointer, length, from)?;
        class.stable &= !in_pieces(length);
        let location = self.classes.number(class);
        // Large: no instruction of the text that could be made stronger.
        let (order, failure, size) = (Order::Plain, Order::Relaxed, u32::MAX);
        Some(What::Access(Access {
            kind,
            order,
            failure,
            location,
            size,
            volatile: false,
            depends: Vec::new(),
        }))
    }

    /// Everything that other threads can see, or what is at `class`.
    fn opaque(&mut self, name: String, class: Option<Class>) -> What {
        What::Opaque { name, location: self.classes.number(class.unwrap_or_else(Class::anything)) }
    }

    /// What a call does that was not followed.
    fn called(&mut self, looking: &mut Looking, call: &Call, result: Option<Local>) -> Events {
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
        // What a library does that everybody has, nobody will port; of others, their authors look after the inside.
        let by_name = library::effect(&name) != Effect::Unknown;
        let again = match effect {
            Effect::Copies | Effect::Fills => in_pieces(length),
            Effect::Arguments => !keeps_locks(&name),
            Effect::Behind { .. } => by_name,
            _ => effect == Effect::Duplicates,
        };
        self.taken.allocators |= self.code.allocates(call);
        self.taken.calls |=
            !by_name && matches!(effect, Effect::Unknown | Effect::Reads | Effect::Behind { .. });
        let all = match effect {
            Effect::Orders => {
                let found = self.code.barriers_of(call).unwrap_or_default();
                found.into_iter().map(fence).filter(|what| *what != What::Nothing).collect()
            }
            Effect::AllocatesFilled | Effect::Duplicates | Effect::Reallocates => {
                let old = call.arguments.first().filter(|_| effect != Effect::AllocatesFilled);
                let read = old.and_then(|old| self.somewhere(looking, old, Kind::Load));
                let new = result.map(Value::Local);
                let written = new.and_then(|new| self.somewhere(looking, &new, Kind::Store));
                read.into_iter().chain(written).collect()
            }
            Effect::None | Effect::Ends | Effect::Allocates | Effect::Returns => Vec::new(),
            Effect::Copies => {
                let to_and_from = [(1, Kind::Load), (0, Kind::Store)].into_iter();
                let pointers = to_and_from.filter_map(|(at, kind)| Some((call.arguments.get(at)?, kind)));
                pointers
                    .filter_map(|(at, kind)| self.bytes(looking, at, length, Offset::ZERO, kind))
                    .collect()
            }
            Effect::Fills => {
                let to = call.arguments.first();
                let written = to.and_then(|to| self.bytes(looking, to, length, Offset::ZERO, Kind::Store));
                written.into_iter().collect()
            }
            Effect::Access(argument, kind, order) => {
                let pointer = call.arguments.get(argument);
                let access = pointer.and_then(|to| self.access(looking, to, 1, kind, order, false));
                // Large: no instruction of the text that could be made stronger.
                access.map(|access| What::Access(Access { size: u32::MAX, ..access })).into_iter().collect()
            }
            // Starting a thread: what came before is seen by it. Accesses of other threads see no difference.
            Effect::Starts(..) | Effect::Launches(_) | Effect::Takes(_) => Vec::new(),
            Effect::Behind { writes: false } => {
                let pointers: Vec<&Value> = (0..)
                    .zip(&call.arguments)
                    .filter(|(i, _)| !call.numbers.has(*i))
                    .map(|(_, v)| v)
                    .collect();
                pointers.into_iter().filter_map(|pointer| self.reads(looking, Some(pointer))).collect()
            }
            Effect::Reads => self.reads(looking, None).into_iter().collect(),
            Effect::Arguments | Effect::Joins | Effect::Behind { writes: true } => {
                let stream = library::stream(&name);
                self.taken.streams |= stream.is_some();
                let counts = |i: usize| !call.numbers.has(i) && stream != Some(i);
                let pointers = call.arguments.iter().enumerate().filter(|(i, _)| counts(*i));
                let classes: Vec<Class> =
                    pointers.filter_map(|(_, value)| self.class(looking, value, 0, Offset::ANY)).collect();
                classes.into_iter().map(|class| self.opaque(name.clone(), Some(class))).collect()
            }
            Effect::Unknown | Effect::Calls(_) => vec![self.opaque(name, None)],
        };
        Events { again: again && !all.is_empty(), all }
    }
}

/// Whether so many bytes (0: nobody knows how many) may take several instructions.
fn in_pieces(length: u64) -> bool {
    !matches!(length, 1 | 2 | 4 | 8)
}

/// What a fence instruction is to memory.
fn fence(barrier: Barrier) -> What {
    match barrier {
        Barrier::Fence(Fence::Full) => What::Fence(Order::SeqCst),
        Barrier::Fence(Fence::Load) => What::Fence(Order::Acquire),
        Barrier::Fence(Fence::Store) => What::StoreFence,
        // What it adds to branches is among the dependencies.
        Barrier::Instructions => What::Nothing,
    }
}

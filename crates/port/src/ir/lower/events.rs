//! What one instruction does to memory.

use super::{Looking, Lower};
use crate::ir::barrier::Barrier;
use crate::ir::classes::Class;
use crate::ir::inline::Step;
use crate::ir::library::Effect;
use crate::ir::module::{Call, Callee, Local, Offset, Op, Ordering, Value};
use crate::machine::Fence;
use crate::program::{Access, Kind, Order, What};

impl Lower<'_> {
    /// What memory sees of a step.
    pub(super) fn events(&mut self, looking: &mut Looking, step: &Step) -> Vec<What> {
        let one = |access: Option<Access>| access.map(What::Access).into_iter().collect();
        match &step.op {
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
            Op::Unknown(name, _) => vec![self.opaque(name.clone(), None)],
            Op::Call(call) => self.called(looking, call, step.result),
            _ => Vec::new(),
        }
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
        if self.options.atomics_only {
            return None;
        }
        let class = self.class(looking, pointer, 0, Offset::ANY)?;
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
    fn called(&mut self, looking: &mut Looking, call: &Call, result: Option<Local>) -> Vec<What> {
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
        let mut plain = |at: usize, kind: Kind, looking: &mut Looking| {
            let access = self.access(looking, call.arguments.get(at)?, length, kind, Order::Plain, false);
            access.map(What::Access)
        };
        match effect {
            Effect::Orders => {
                let found = self.code.barriers_of(call).unwrap_or_default();
                found.into_iter().map(fence).filter(|what| *what != What::Nothing).collect()
            }
            Effect::AllocatesFilled | Effect::Reallocates => {
                let old = call.arguments.first().filter(|_| effect == Effect::Reallocates);
                let read = old.and_then(|old| self.somewhere(looking, old, Kind::Load));
                let new = result.map(Value::Local);
                let written = new.and_then(|new| self.somewhere(looking, &new, Kind::Store));
                read.into_iter().chain(written).collect()
            }
            Effect::None | Effect::Ends | Effect::Allocates | Effect::Returns => Vec::new(),
            Effect::Copies => [plain(1, Kind::Load, looking), plain(0, Kind::Store, looking)]
                .into_iter()
                .flatten()
                .collect(),
            Effect::Fills => plain(0, Kind::Store, looking).into_iter().collect(),
            Effect::Access(argument, kind, order) => {
                let Some(pointer) = call.arguments.get(argument) else { return Vec::new() };
                let access = self.access(looking, pointer, 1, kind, order, false);
                // Large: no instruction of the text that could be made stronger.
                access.map(|access| What::Access(Access { size: u32::MAX, ..access })).into_iter().collect()
            }
            // Starting a thread: what came before is seen by it. Accesses of other threads see no difference.
            Effect::Starts(..) => Vec::new(),
            Effect::Behind { writes: false } => {
                let pointers: Vec<&Value> = (0..)
                    .zip(&call.arguments)
                    .filter(|(i, _)| !call.numbers.has(*i))
                    .map(|(_, v)| v)
                    .collect();
                pointers.into_iter().filter_map(|pointer| self.reads(looking, Some(pointer))).collect()
            }
            Effect::Reads => self.reads(looking, None).into_iter().collect(),
            Effect::Arguments | Effect::Behind { writes: true } => {
                let pointers = call.arguments.iter().enumerate().filter(|(i, _)| !call.numbers.has(*i));
                let classes: Vec<Class> =
                    pointers.filter_map(|(_, value)| self.class(looking, value, 0, Offset::ANY)).collect();
                classes.into_iter().map(|class| self.opaque(name.clone(), Some(class))).collect()
            }
            Effect::Unknown => vec![self.opaque(name, None)],
        }
    }
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

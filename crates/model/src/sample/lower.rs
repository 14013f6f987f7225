//! What a random program means for one memory model.
//!
//! | as written | RA | RC20 | TSO | ARMv8 | ARMv7 |
//! |---|---|---|---|---|---|
//! | SC fence | see below | the same | MFENCE | DMB | DMB |
//! | other fence | nothing | as it is | nothing | as it is | as it is |
//! | SC store | SC fence, release store | the same | store, MFENCE | as it is (STLR) | release store, DMB |
//! | SC load | SC fence, acquire load | the same | plain load | as it is (LDAR) | acquire load |
//! | SC RMW | SC fence, acq-rel RMW | the same | locked | as it is | DMB, acq-rel RMW, DMB |
//! | RMW of another mode | acq-rel | as it is | locked | as it is | as it is |
//! | other access | release or acquire | as it is | plain | as it is | as it is |
//!
//! For RA and RC20 an SC fence is an acquire fence, an acquire-release `FetchAdd(0)` on a hidden last location,
//! and a release fence. Non-atomic accesses stay as they are everywhere. SC itself and RC11 take the program as it is
//! written.

use super::{Kind, Operand, RandomProgram, Statement};
use crate::{Action, Dependencies, Loc, Mode, Model, Next, Op, Outcome, Program, Value};

/// A random program lowered for one memory model.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lowered {
    initial: Vec<Value>,
    /// The location behind SC fences, if there is one: what is read there stays there.
    hidden: Option<Loc>,
    modulus: Value,
    threads: Vec<Vec<Instruction>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Instruction {
    /// Where to go instead if the register is 0.
    skip_to: Option<usize>,
    kind: Kind,
    loc: Loc,
    mode: Mode,
    failure: Option<Mode>,
    site: u32,
}

/// Where a thread of a [`Lowered`] program stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The next instruction.
    at: usize,
    register: Value,
    /// How many events the thread has produced.
    events: usize,
    /// The event that the register's value comes from.
    source: Option<usize>,
    /// The events that decided a branch so far, as a bit set.
    decided: u64,
}

impl RandomProgram {
    /// The program as this memory model sees it. The site of an instruction is the number of its statement,
    /// counted through all threads.
    pub fn lower(&self, model: Model) -> Lowered {
        let hidden = Loc(self.locations as u8);
        let mut site = 0;
        let mut threads = Vec::with_capacity(self.threads.len());
        for statements in &self.threads {
            let mut instructions = Vec::new();
            for statement in statements {
                let first = instructions.len();
                for (kind, loc, mode) in lowered(statement, model, hidden) {
                    let failure = match (model, statement.failure) {
                        (Model::Rc20, Some(Mode::SeqCst)) => Some(Mode::Acquire),
                        (Model::Sc | Model::Rc11 | Model::Rc20 | Model::ArmV8, failure) => failure,
                        _ => None,
                    };
                    instructions.push(Instruction { skip_to: None, kind, loc, mode, failure, site });
                }
                let after = instructions.len();
                if statement.guarded && after > first {
                    instructions[first].skip_to = Some(after);
                }
                site += 1;
            }
            threads.push(instructions);
        }
        let uses_hidden = threads.iter().flatten().any(|i| i.kind != Kind::Fence && i.loc == hidden);
        Lowered {
            initial: vec![0; self.locations + usize::from(uses_hidden)],
            hidden: uses_hidden.then_some(hidden),
            modulus: self.modulus.max(1),
            threads,
        }
    }
}

fn lowered(statement: &Statement, model: Model, hidden: Loc) -> Vec<(Kind, Loc, Mode)> {
    let Statement { kind, loc, mode, .. } = statement.clone();
    let is_sc = mode == Mode::SeqCst;
    let fence = |mode| (Kind::Fence, loc, mode);
    let sc_fence = [
        fence(Mode::Acquire),
        (Kind::FetchAdd(Operand::Const(0)), hidden, Mode::AcqRel),
        fence(Mode::Release),
    ];
    let strong = match kind {
        Kind::Load | Kind::Wait(_) => Mode::Acquire,
        Kind::Store(_) => Mode::Release,
        _ => Mode::AcqRel,
    };
    match (model, &kind) {
        (_, _) if mode == Mode::NonAtomic => vec![(kind, loc, mode)],
        (Model::Sc | Model::Rc11 | Model::ArmV8, _) => vec![(kind, loc, mode)],

        (Model::Ra | Model::Rc20, Kind::Fence) if is_sc => sc_fence.to_vec(),
        (Model::Ra | Model::Rc20, _) if is_sc => [&sc_fence[..], &[(kind, loc, strong)]].concat(),
        (Model::Ra, Kind::Fence) => Vec::new(),
        (Model::Ra, _) => vec![(kind, loc, strong)],
        (Model::Rc20, _) => vec![(kind, loc, mode)],

        (Model::Tso, Kind::Fence) if is_sc => vec![fence(Mode::SeqCst)],
        (Model::Tso, Kind::Fence) => Vec::new(),
        (Model::Tso, Kind::Store(_)) if is_sc => vec![(kind, loc, Mode::Relaxed), fence(Mode::SeqCst)],
        (Model::Tso, kind) if kind.is_rmw() => vec![(kind.clone(), loc, Mode::SeqCst)],
        (Model::Tso, _) => vec![(kind, loc, Mode::Relaxed)],

        (Model::ArmV7, Kind::Store(_)) if is_sc => vec![(kind, loc, strong), fence(Mode::SeqCst)],
        (Model::ArmV7, Kind::Load | Kind::Wait(_)) if is_sc => vec![(kind, loc, strong)],
        (Model::ArmV7, Kind::Fence) => vec![(kind, loc, mode)],
        (Model::ArmV7, _) if is_sc => {
            vec![fence(Mode::SeqCst), (kind, loc, strong), fence(Mode::SeqCst)]
        }
        (Model::ArmV7, _) => vec![(kind, loc, mode)],
    }
}

impl Lowered {
    fn value(&self, operand: Operand, register: Value) -> Value {
        match operand {
            Operand::Const(value) => value % self.modulus,
            Operand::Register(add) => (register + add) % self.modulus,
        }
    }

    fn instruction(&self, thread: usize, place: &Place) -> Option<&Instruction> {
        self.threads.get(thread)?.get(place.at)
    }

    /// Follows the branches up to the next memory instruction.
    fn settled(&self, thread: usize, mut place: Place) -> Vec<Next<Place>> {
        while let Some(skip_to) = self.instruction(thread, &place).and_then(|i| i.skip_to) {
            if let Some(source) = place.source {
                place.decided |= 1 << source.min(63);
            }
            if place.register != 0 {
                break;
            }
            place.at = skip_to;
        }
        vec![Next::At(place)]
    }
}

impl Program for Lowered {
    type Local = Place;

    fn initial(&self) -> &[Value] {
        &self.initial
    }

    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn start(&self, thread: usize) -> Vec<Next<Place>> {
        self.settled(thread, Place { at: 0, register: 0, events: 0, source: None, decided: 0 })
    }

    fn action(&self, thread: usize, place: &Place) -> Option<Action> {
        let Instruction { kind, loc, mode, failure, site, .. } = self.instruction(thread, place)?;
        let value = |operand: &Operand| self.value(*operand, place.register);
        let op = match kind {
            Kind::Load => Op::Load,
            Kind::Wait(values) => Op::Wait(values.clone()),
            Kind::Store(v) => Op::Store(value(v)),
            Kind::FetchAdd(v) => Op::FetchAdd { operand: value(v), modulus: self.modulus },
            Kind::Exchange(v) => Op::Exchange(value(v)),
            Kind::Cas(expected, v) => Op::Cas { expected: *expected, new: value(v) },
            Kind::WeakCas(expected, v) => Op::WeakCas { expected: *expected, new: value(v) },
            Kind::BlockingCas(expected, v) => Op::BlockingCas { expected: *expected, new: value(v) },
            Kind::Fence => Op::Fence,
        };
        Some(Action { op, loc: *loc, mode: *mode, failure: *failure, site: *site })
    }

    fn after(&self, thread: usize, place: &Place, outcome: Outcome) -> Vec<Next<Place>> {
        let mut next = *place;
        let Some(instruction) = self.instruction(thread, place) else { return vec![Next::At(next)] };
        let hidden = Some(instruction.loc) == self.hidden;
        let result = match instruction.kind {
            Kind::Wait(_) | Kind::BlockingCas(..) => None,
            Kind::WeakCas(..) => Some(Value::from(matches!(outcome, Outcome::Updated(..)))),
            _ if hidden => None,
            _ => outcome.value_read(),
        };
        if let Some(value) = result {
            (next.register, next.source) = (value, Some(place.events));
        }
        next.at += 1;
        next.events += 1;
        self.settled(thread, next)
    }

    fn dependencies(&self, thread: usize, place: &Place) -> Dependencies {
        let uses_register = self.instruction(thread, place).is_some_and(|i| match i.kind {
            Kind::Store(v) | Kind::FetchAdd(v) | Kind::Exchange(v) => matches!(v, Operand::Register(_)),
            Kind::Cas(_, v) | Kind::WeakCas(_, v) | Kind::BlockingCas(_, v) => {
                matches!(v, Operand::Register(_))
            }
            _ => false,
        });
        let data = place.source.filter(|_| uses_register).into_iter().collect();
        let ctrl = crate::Set([place.decided]).iter().collect();
        Dependencies { data, ctrl }
    }
}

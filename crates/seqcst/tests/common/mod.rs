//! Programs of the definitions, run through the crate.

#![allow(unsafe_code)] // cells

use seqcst::cell::UnsafeCell;
use seqcst::sync::atomic::{AtomicU32, Ordering, fence};
use seqcst::thread;
use seqcst_model::Mode;
use seqcst_model::sample::{Kind, Operand, RandomProgram, Statement};

struct Memory {
    atomics: Vec<AtomicU32>,
    plain: UnsafeCell<u32>,
}

// SAFETY: the cell is watched for races, and its threads take turns.
unsafe impl Sync for Memory {}

/// Runs a program once: a thread for each of its threads.
pub fn run(program: &RandomProgram) {
    let memory = Memory {
        atomics: (0..program.locations).map(|_| AtomicU32::new(0)).collect(),
        plain: UnsafeCell::new(0),
    };
    thread::scope(|scope| {
        for statements in &program.threads {
            let memory = &memory;
            scope.spawn(move || {
                statements.iter().fold(0, |register, statement| {
                    if statement.guarded && register == 0 {
                        register
                    } else {
                        step(memory, statement, register)
                    }
                })
            });
        }
    });
}

/// One statement; the register's value after it.
fn step(memory: &Memory, statement: &Statement, register: u32) -> u32 {
    let value = |operand: &Operand| match operand {
        Operand::Const(value) => *value,
        Operand::Register(more) => (register + more) % 3,
    };
    if statement.mode == Mode::NonAtomic {
        return match &statement.kind {
            // SAFETY: see `Memory`.
            Kind::Load => memory.plain.with(|cell| unsafe { *cell }),
            Kind::Store(new) => {
                memory.plain.with_mut(|cell| unsafe { *cell = value(new) });
                register
            }
            other => unreachable!("{other:?}"),
        };
    }
    let (order, failure) =
        (ordering(statement.mode), ordering(statement.failure.unwrap_or(statement.mode.read_part())));
    let location = &memory.atomics[statement.loc.index()];
    match &statement.kind {
        Kind::Load => location.load(order),
        Kind::Store(new) => {
            location.store(value(new), order);
            register
        }
        Kind::Exchange(new) => location.swap(value(new), order),
        Kind::Cas(old, new) => {
            location.compare_exchange(*old, value(new), order, failure).unwrap_or_else(|found| found)
        }
        Kind::WeakCas(old, new) => {
            u32::from(location.compare_exchange_weak(*old, value(new), order, failure).is_ok())
        }
        Kind::Fence => {
            fence(order);
            register
        }
        other => unreachable!("{other:?}"),
    }
}

fn ordering(mode: Mode) -> Ordering {
    match mode {
        Mode::NonAtomic | Mode::Relaxed => Ordering::Relaxed,
        Mode::Acquire => Ordering::Acquire,
        Mode::Release => Ordering::Release,
        Mode::AcqRel => Ordering::AcqRel,
        Mode::SeqCst => Ordering::SeqCst,
    }
}

//! Small libraries, with the orders that matter as parameters.

use super::ir::*;
use seqcst_library::code::Mode::{self, Relaxed, SeqCst};
use seqcst_library::code::{Library, Operator, Statement};

/// Fig. 2 of [RoboCop24]: a pointer to a fresh record.
pub fn register(store_order: Mode, load_order: Mode) -> Library {
    fenced_register(None, store_order, load_order, None)
}

/// Its fence form.
pub fn fenced_register(before: Option<Mode>, publish: Mode, get: Mode, after: Option<Mode>) -> Library {
    let mut set = vec![alloc(B), store(field(VAL, B), v(A), Relaxed)];
    set.extend(before.map(fence));
    set.push(store(at(X), v(B), publish));
    let mut read = vec![load(A, at(X), get)];
    read.extend(after.map(fence));
    read.push(when(not(v(A)), vec![ret(int(0))]));
    read.extend([load(B, field(VAL, A), Relaxed), ret(v(B))]);
    library(vec![method("set", 1, set), method("get", 0, read)])
}

/// One location.
pub fn one_location(write: Mode, read: Mode) -> Library {
    library(vec![
        method("set", 1, vec![store(at(X), v(A), write)]),
        method("get", 0, vec![load(A, at(X), read), ret(v(A))]),
    ])
}

/// Two registers in one library.
pub fn two_registers(write: Mode, read: Mode) -> Library {
    library(vec![
        method("set_x", 1, vec![store(at(X), v(A), write)]),
        method("set_y", 1, vec![store(at(Y), v(A), write)]),
        method("get_x", 0, vec![load(A, at(X), read), ret(v(A))]),
        method("get_y", 0, vec![load(A, at(Y), read), ret(v(A))]),
    ])
}

/// Store buffering in two methods.
pub fn store_buffering(write: Mode, read: Mode) -> Library {
    library(vec![
        method("left", 0, vec![store(at(X), int(1), write), load(A, at(Y), read), ret(v(A))]),
        method("right", 0, vec![store(at(Y), int(1), write), load(A, at(X), read), ret(v(A))]),
    ])
}

/// Message passing: who writes and who reads is not said.
pub fn message_passing(write: Mode, read: Mode) -> Library {
    library(vec![
        method("send", 1, vec![store(at(X), v(A), Relaxed), store(at(Y), int(1), write)]),
        method(
            "receive",
            0,
            vec![
                load(A, at(Y), read),
                when(not(v(A)), vec![ret(int(0))]),
                load(B, at(X), Relaxed),
                ret(v(B)),
            ],
        ),
    ])
}

/// Treiber's stack: orders of push's load and compare-and-swap, pop's load and compare-and-swap.
pub fn treiber(orders: [Mode; 4]) -> Library {
    let [push_load, push_cas, pop_load, pop_cas] = orders;
    library(vec![
        method(
            "push",
            1,
            vec![
                alloc(B),
                store(field(VAL, B), v(A), Relaxed),
                repeat(vec![
                    load(C, at(X), push_load),
                    store(field(NEXT, B), v(C), Relaxed),
                    cas(D, None, at(X), v(C), v(B), push_cas),
                    when(v(D), vec![leave()]),
                ]),
            ],
        ),
        method(
            "pop",
            0,
            vec![repeat(vec![
                load(A, at(X), pop_load),
                when(not(v(A)), vec![ret(int(0))]),
                load(B, field(NEXT, A), Relaxed),
                cas(C, None, at(X), v(A), v(B), pop_cas),
                when(v(C), vec![load(D, field(VAL, A), Relaxed), ret(v(D))]),
            ])],
        ),
    ])
}

/// A ring of two cells for one producer and one consumer. `own`: loads of one's own index; `other`: of the other's; `write`:
/// stores of indices; `fences`: SC fences between one's own store and the other's load.
pub fn ring(write: Mode, other: Mode, fences: bool) -> Library {
    let after =
        |body: Vec<Statement>| body.into_iter().chain(fences.then(|| fence(SeqCst))).collect::<Vec<_>>();
    let mut library = library(vec![
        // x is the tail, y the head.
        method(
            "enqueue",
            1,
            after(vec![
                load(B, at(X), Relaxed),
                load(C, at(Y), other),
                when(eq(op(Operator::Sub, v(B), v(C)), int(2)), vec![ret(int(0))]),
                store(cell(CELL, op(Operator::Rem, v(B), int(2))), v(A), Relaxed),
                store(at(X), op(Operator::Add, v(B), int(1)), write),
            ]),
        ),
        method(
            "dequeue",
            0,
            after(vec![
                load(B, at(Y), Relaxed),
                load(C, at(X), other),
                when(eq(v(B), v(C)), vec![ret(int(0))]),
                load(D, cell(CELL, op(Operator::Rem, v(B), int(2))), Relaxed),
                store(at(Y), op(Operator::Add, v(B), int(1)), write),
            ]),
        ),
    ]);
    library.contract.one_thread = vec![vec!["enqueue".to_owned()], vec!["dequeue".to_owned()]];
    library
}

/// An array without end for one producer and one consumer.
pub fn unbounded(write: Mode, read: Mode) -> Library {
    let mut library = library(vec![
        method(
            "enqueue",
            1,
            vec![
                load(B, at(X), Relaxed),
                store(cell(CELL, v(B)), v(A), Relaxed),
                store(at(X), op(Operator::Add, v(B), int(1)), write),
            ],
        ),
        method(
            "dequeue",
            0,
            vec![
                load(B, at(Y), Relaxed),
                load(C, at(X), read),
                when(eq(v(B), v(C)), vec![ret(int(0))]),
                load(D, cell(CELL, v(B)), Relaxed),
                store(at(Y), op(Operator::Add, v(B), int(1)), Relaxed),
                ret(v(D)),
            ],
        ),
    ]);
    library.classes[CELL.0 as usize].cells = Some(None);
    library.contract.one_thread = vec![vec!["enqueue".to_owned()], vec!["dequeue".to_owned()]];
    library
}

/// Michael and Scott's queue with a blocking dequeue. x is the head, y the tail; the dummy is there from the beginning.
pub struct Queue {
    pub load: Mode,
    pub next_load: Mode,
    pub next_cas: Mode,
    pub tail_cas: Mode,
    pub head_load: Mode,
    pub head_cas: Mode,
}

impl Queue {
    pub fn library(&self) -> Library {
        let mut library = library(vec![
            method(
                "enqueue",
                1,
                vec![
                    alloc(B),
                    store(field(VAL, B), v(A), Relaxed),
                    store(field(NEXT, B), int(0), Relaxed),
                    repeat(vec![
                        load(C, at(Y), self.load),
                        load(D, field(NEXT, C), self.next_load),
                        either(
                            v(D),
                            vec![cas(E, None, at(Y), v(C), v(D), self.tail_cas)],
                            vec![
                                cas(E, None, field(NEXT, C), int(0), v(B), self.next_cas),
                                when(v(E), vec![cas(F, None, at(Y), v(C), v(B), self.tail_cas), leave()]),
                            ],
                        ),
                    ]),
                ],
            ),
            method(
                "dequeue",
                0,
                vec![repeat(vec![
                    load(A, at(X), self.head_load),
                    load(B, at(Y), self.load),
                    when(eq(v(A), v(B)), vec![again()]),
                    load(C, field(NEXT, A), self.next_load),
                    load(D, field(VAL, C), Relaxed),
                    cas(E, None, at(X), v(A), v(C), self.head_cas),
                    when(v(E), vec![ret(v(D))]),
                ])],
            ),
        ]);
        library.classes[X.0 as usize].initial = -16;
        library.classes[Y.0 as usize].initial = -16;
        library
    }
}

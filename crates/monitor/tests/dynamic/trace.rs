//! Traces: what threads do one after the other, as it is drawn, printed and made smaller; and the SC run that comes
//! of a trace, as monitors see it.
//!
//! Every list of steps is a trace: a step that can't be done at its place (by a thread that was not created or has
//! ended, say) is left out, and a step that blocks is an attempt that leaves no event.

use seqcst_model::{Action, Loc, Mode, Op, Outcome, Value};
use std::fmt;

/// Values are `0..MODULUS`, all 0 at the start.
pub const MODULUS: Value = 3;
/// Locations that traces may use.
pub const LOCATIONS: usize = 4;
/// Objects to synchronise by that traces may use.
pub const OBJECTS: usize = 2;

/// A sequence of steps.
#[derive(Clone, Debug)]
pub struct Trace(pub Vec<Step>);

/// A step of a thread.
#[derive(Clone, Debug)]
pub struct Step {
    /// By its name, a number: thread 0 is there from the start.
    pub thread: usize,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    /// An atomic access or a fence.
    Do(Action),
    /// A plain access. Robustness does not look at these, so its value doesn't matter.
    Plain { loc: Loc, write: bool },
    /// Creates the thread of this name.
    Create(usize),
    /// From now on there is a thread of this name that nobody created.
    Meet(usize),
    /// Does nothing more.
    End,
    /// Waits for the end of this thread, which does nothing more.
    Join(usize),
    /// Learns what was released at an object so far.
    Acquire(usize),
    /// Releases at an object.
    Release(usize),
}

/// Something that happens in an SC run.
#[derive(Clone, Debug)]
pub struct Happening {
    /// The number of the step in the trace.
    pub step: usize,
    /// The thread, numbered in order of creation.
    pub thread: usize,
    pub what: Happened,
}

#[derive(Clone, Debug)]
pub enum Happened {
    /// The thread is about to do this access: could it be stale?
    Tried(Action),
    /// It did.
    Did(Action, Outcome),
    Fenced(Mode),
    Touched {
        loc: Loc,
        write: bool,
    },
    /// The new thread has the next number.
    Created,
    /// Another thread has come from nowhere: it has the next number.
    Met,
    Ended,
    Joined(usize),
    Acquired(usize),
    Released(usize),
}

/// What SC accesses are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScAccesses {
    /// Themselves, in RC11.
    AsWritten,
    /// An SC fence and the access, elsewhere.
    AfterFences,
}

impl Trace {
    /// The trace under SC: what is read is what was written last.
    pub fn run(&self, sc: ScAccesses) -> Vec<Happening> {
        let mut run = Vec::new();
        let mut memory = [0; LOCATIONS];
        // The names of threads in order of creation, and who has ended.
        let (mut names, mut ended) = (vec![0], vec![false]);
        for (step, Step { thread, what }) in self.0.iter().enumerate() {
            let number = |name: &usize| names.iter().position(|n| n == name);
            let Some(thread) = number(thread).filter(|&thread| !ended[thread]) else { continue };
            let mut happens = |thread, what| run.push(Happening { step, thread, what });
            match what {
                What::Do(Action { op: Op::Fence, mode, .. }) => happens(thread, Happened::Fenced(*mode)),
                What::Do(action) => {
                    if action.mode == Mode::SeqCst && sc == ScAccesses::AfterFences {
                        happens(thread, Happened::Fenced(Mode::SeqCst));
                    }
                    happens(thread, Happened::Tried(action.clone()));
                    let value = &mut memory[action.loc.index()];
                    if let Some(outcome) = action.outcomes(*value).next() {
                        *value = outcome.value_written().unwrap_or(*value);
                        happens(thread, Happened::Did(action.clone(), outcome));
                    }
                }
                What::Plain { loc, write } => {
                    happens(thread, Happened::Touched { loc: *loc, write: *write });
                }
                What::Create(name) | What::Meet(name) => {
                    if number(name).is_none() {
                        let created = matches!(what, What::Create(_));
                        happens(thread, if created { Happened::Created } else { Happened::Met });
                        names.push(*name);
                        ended.push(false);
                    }
                }
                What::End => {
                    happens(thread, Happened::Ended);
                    ended[thread] = true;
                }
                What::Join(name) => {
                    if let Some(other) = number(name).filter(|&other| other != thread) {
                        if !ended[other] {
                            happens(other, Happened::Ended);
                            ended[other] = true;
                        }
                        happens(thread, Happened::Joined(other));
                    }
                }
                What::Acquire(object) => happens(thread, Happened::Acquired(*object)),
                What::Release(object) => happens(thread, Happened::Released(*object)),
            }
        }
        run
    }

    /// Traces with a little less in them.
    pub fn smaller(&self) -> impl Iterator<Item = Trace> + '_ {
        let halves =
            [0..self.0.len() / 2, self.0.len() / 2..self.0.len()].map(|part| Trace(self.0[part].to_vec()));
        let without = |at| Trace([&self.0[..at], &self.0[at + 1..]].concat());
        let parts = halves.into_iter().filter(|part| part.0.len() < self.0.len());
        parts.chain((0..self.0.len()).rev().map(without))
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(number, step)| writeln!(f, "{number:4}  {step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}: ", self.thread)?;
        let name = |loc: Loc| ["x", "y", "z", "w"][loc.index()];
        match &self.what {
            What::Do(action) => {
                let (x, mode) = (name(action.loc), action.mode);
                let failure = action.failure.map(|mode| format!("/{mode}")).unwrap_or_default();
                match &action.op {
                    Op::Load => write!(f, "{x}.load({mode})"),
                    Op::Wait(values) => write!(f, "wait({x} in {values:?}, {mode})"),
                    Op::Store(v) => write!(f, "{x}.store({v}, {mode})"),
                    Op::FetchAdd { operand, .. } => write!(f, "{x}.fetch_add({operand}, {mode})"),
                    Op::Exchange(v) => write!(f, "{x}.exchange({v}, {mode})"),
                    Op::Cas { expected, new } => write!(f, "{x}.cas({expected}, {new}, {mode}{failure})"),
                    Op::WeakCas { expected, new } => {
                        write!(f, "{x}.weak_cas({expected}, {new}, {mode}{failure})")
                    }
                    Op::BlockingCas { expected, new } => {
                        write!(f, "{x}.blocking_cas({expected}, {new}, {mode})")
                    }
                    Op::Fence => write!(f, "fence({mode})"),
                }
            }
            What::Plain { loc, write: true } => write!(f, "{} = plain", name(*loc)),
            What::Plain { loc, write: false } => write!(f, "plain {}", name(*loc)),
            What::Create(thread) => write!(f, "create t{thread}"),
            What::Meet(thread) => write!(f, "meet t{thread}"),
            What::End => write!(f, "end"),
            What::Join(thread) => write!(f, "join t{thread}"),
            What::Acquire(object) => write!(f, "acquire m{object}"),
            What::Release(object) => write!(f, "release m{object}"),
        }
    }
}

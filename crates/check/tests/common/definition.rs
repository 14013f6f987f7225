//! What the definitions say about a program: the oracle for robustness and races by happens-before, and a plain walk
//! over all SC states for everything that is a matter of single states.

use super::Verdict;
use seqcst_model::oracle::{self, Candidate};
use seqcst_model::{Mode, Model, Next, Op, Program, Value};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Graphs to look at before a program counts as too big.
const LIMIT: usize = 60_000;

/// What is true of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Truth {
    /// Every execution graph that the model allows is sequentially consistent.
    pub robust: bool,
    /// Some SC execution has a race: by RC20's happens-before, or, under other models, two conflicting accesses to a
    /// non-atomic location that are both about to be executed.
    pub race: bool,
    /// Some SC execution fails an assertion.
    pub fails: bool,
    /// In some SC execution a thread that is not finished can never move again.
    pub stuck: bool,
}

impl Truth {
    /// `None`: the program is too big.
    pub fn of<P: Program>(program: &P, model: Model) -> Option<Truth> {
        let robust = robust(program, model)?;
        let states = States::of(program);
        let race = if model.has_races() { races_under_sc(program, model)? } else { states.clash };
        Some(Truth { robust, race, fails: states.fails, stuck: states.stuck })
    }

    /// Whether a checker that stops at the first thing it finds may say this.
    ///
    /// A program can be not robust, racy and wrong at once, and which of these a checker meets first is its own
    /// business. But what it says must be so, and it may say "robust" only if nothing at all is there: a program is
    /// fine iff the oracle says robust, and there is no race and no failed assertion.
    pub fn admits(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Robust => self.robust && !self.race && !self.fails,
            Verdict::NotRobust => !self.robust,
            Verdict::Race => self.race,
            Verdict::Assertion => self.fails,
            Verdict::Deadlock => self.stuck,
            Verdict::GaveUp => false,
        }
    }
}

/// `None`: too big.
pub fn robust<P: Program>(program: &P, model: Model) -> Option<bool> {
    match oracle::robust(program, model, Model::Sc, LIMIT) {
        oracle::Verdict::Robust => Some(true),
        oracle::Verdict::NotRobust(_) => Some(false),
        oracle::Verdict::TooBig => None,
    }
}

/// Whether some SC graph has a race by the happens-before of the model; `None`: too big.
pub fn races_under_sc<P: Program>(program: &P, model: Model) -> Option<bool> {
    let mut racy = false;
    let visit = |Candidate { graph, .. }: Candidate| {
        racy = oracle::race(graph, model).is_some();
        if racy { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    oracle::consistent(program, Model::Sc, LIMIT, visit).ok()?;
    Some(racy)
}

/// Whether some graph that the model allows has a race by its happens-before; `None`: too big.
pub fn races<P: Program>(program: &P, model: Model) -> Option<bool> {
    Some(oracle::races(program, model, LIMIT).ok()?.is_some())
}

/// What turns up in the reachable SC states.
#[derive(Clone, Copy, Default)]
struct States {
    clash: bool,
    fails: bool,
    stuck: bool,
}

/// Where every thread stands (`None` after a failed assertion: the others go on, as in the oracle), and the memory.
type State<L> = (Vec<Option<L>>, Vec<Value>);

impl States {
    fn of<P: Program>(program: &P) -> States {
        let mut found = States::default();
        let mut states: Vec<State<P::Local>> = vec![(Vec::new(), program.initial().to_vec())];
        for thread in 0..program.threads() {
            let places = found.places(program.start(thread));
            let with = |(locals, memory): &State<P::Local>, place: &Option<P::Local>| {
                ([&locals[..], std::slice::from_ref(place)].concat(), memory.clone())
            };
            states =
                states.iter().flat_map(|state| places.iter().map(move |place| with(state, place))).collect();
        }
        let mut numbers: HashMap<State<P::Local>, usize> = states.iter().cloned().zip(0..).collect();
        // For every state, who can move there or is finished, and where moves lead.
        let (mut free, mut moves) = (Vec::new(), Vec::new());
        while let Some((locals, memory)) = states.get(free.len()).cloned() {
            let action = |thread: usize| program.action(thread, locals[thread].as_ref()?);
            let actions: Vec<_> = (0..locals.len()).map(action).collect();
            let mut free_here: Vec<bool> = actions.iter().map(Option::is_none).collect();
            let mut moves_here = Vec::new();
            for (thread, action) in actions.iter().enumerate() {
                let (Some(action), Some(local)) = (action, &locals[thread]) else { continue };
                found.clash |= actions[..thread].iter().flatten().any(|other| {
                    [action, other].iter().all(|a| a.op != Op::Fence && a.mode == Mode::NonAtomic)
                        && action.loc == other.loc
                        && (action.may_write() || other.may_write())
                });
                for outcome in action.outcomes(memory[action.loc.index()]) {
                    free_here[thread] = true;
                    let mut memory = memory.clone();
                    if let Some(value) = outcome.value_written() {
                        memory[action.loc.index()] = value;
                    }
                    for place in found.places(program.after(thread, local, outcome)) {
                        let mut locals = locals.clone();
                        locals[thread] = place;
                        let state = (locals, memory.clone());
                        let number = *numbers.entry(state.clone()).or_insert(states.len());
                        if number == states.len() {
                            states.push(state);
                        }
                        moves_here.push(number);
                    }
                }
            }
            free.push(free_here);
            moves.push(moves_here);
        }
        found.stuck = (0..program.threads()).any(|thread| {
            let mut hopeful: Vec<bool> = free.iter().map(|free| free[thread]).collect();
            while let Some(more) =
                (0..moves.len()).find(|&s| !hopeful[s] && moves[s].iter().any(|&to| hopeful[to]))
            {
                hopeful[more] = true;
            }
            hopeful.contains(&false)
        });
        found
    }

    fn places<L>(&mut self, nexts: Vec<Next<L>>) -> Vec<Option<L>> {
        let mut place = |next| match next {
            Next::At(local) => Some(local),
            Next::AssertionFailed(_) => {
                self.fails = true;
                None
            }
        };
        nexts.into_iter().map(&mut place).collect()
    }
}

//! A partial execution of a proof that failed, tried on real clients: first on those that it suggests, then on all small ones.

use super::check::{Checked, Limits, check};
use super::{Call, Client, Plain, enumerate, respects};
use crate::code::Library;
use seqcst_report::Verdict;
use std::time::{Duration, Instant};

/// Which clients to try, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Threads of a client.
    pub threads: usize,
    /// Calls of a thread; where the contract allows two threads only, two calls more.
    pub calls: usize,
    /// For each client.
    pub limits: Limits,
    /// For all clients together.
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { threads: 3, calls: 2, limits: Limits::default(), time: Duration::from_secs(300) }
    }
}

/// A client that shows that a library is not robust.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// The client.
    pub client: Client,
    /// Its program, and the execution that SC does not have.
    pub checked: Checked,
}

/// What came of an attempt.
#[derive(Clone, Debug)]
pub enum Tried {
    /// There is such a client.
    Confirmed(Box<Confirmed>),
    /// None was found.
    NotConfirmed {
        /// Clients that are robust.
        robust: usize,
        /// Clients that leave SC only in executions that block for ever.
        unfinished: usize,
        /// Clients without an answer, and why.
        open: Vec<(Client, String)>,
        /// Were all clients within the bounds tried?
        is_complete: bool,
        /// States visited in all.
        states: u64,
    },
}

/// So many calls more if there can be two threads only.
const MORE_CALLS: usize = 2;

/// Looks for a client that shows that the library (after ρ) is not robust. `hints` are the methods of the sessions of a partial
/// execution, in order.
pub fn try_witness(library: &Library, hints: &[Vec<String>], bounds: &Bounds) -> Tried {
    let start = Instant::now();
    let mut clients = enumerate(library, bounds.threads, bounds.calls);
    if bounds.threads > 2 && clients.iter().all(|client| client.threads.len() == 2) {
        // The contract allows two threads only: these may call more.
        clients = enumerate(library, 2, bounds.calls + MORE_CALLS);
    }
    // Those that do what the partial execution does come first; the order is kept otherwise.
    clients.sort_by_key(|client| !contains(client, hints));
    if let Some(client) = suggested(library, hints).filter(|client| respects(library, client)) {
        clients.retain(|other| *other != client);
        clients.insert(0, client);
    }
    let (mut robust, mut unfinished, mut states, mut open) = (0, 0, 0, Vec::new());
    for client in clients {
        let left = bounds.time.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Tried::NotConfirmed { robust, unfinished, open, is_complete: false, states };
        }
        let limits = Limits { time: bounds.limits.time.min(left), ..bounds.limits };
        match check(library, &client, Plain::Relaxed, &limits) {
            Err(unsupported) => open.push((client, unsupported.to_string())),
            Ok(checked) => {
                states += checked.finding.states;
                match (&checked.finding.verdict, checked.is_complete) {
                    (Verdict::Robust, _) => robust += 1,
                    (Verdict::NotRobust, Some(true)) => {
                        return Tried::Confirmed(Box::new(Confirmed { client, checked }));
                    }
                    (Verdict::NotRobust, Some(false)) => unfinished += 1,
                    (Verdict::NotRobust, None) => open.push((client, UNDECIDED.to_owned())),
                    (other, _) => open.push((client, why(other))),
                }
            }
        }
    }
    Tried::NotConfirmed { robust, unfinished, open, is_complete: true, states }
}

const UNDECIDED: &str =
    "part of an execution is not SC, and whether it can be completed was not decided in time";

fn why(verdict: &Verdict) -> String {
    match verdict {
        Verdict::GaveUp(why) => why.clone(),
        other => format!("{other:?}"),
    }
}

/// The client of a partial execution: a thread per session, with different arguments.
fn suggested(library: &Library, hints: &[Vec<String>]) -> Option<Client> {
    let mut next = 0;
    let mut call = |name: &String| {
        let method = library.methods.iter().find(|method| method.name == *name)?;
        let arguments = method.parameters.iter().map(|_| {
            next += 1;
            next
        });
        Some(Call { method: name.clone(), arguments: arguments.collect() })
    };
    let threads: Option<Vec<Vec<Call>>> = hints
        .iter()
        .filter(|calls| !calls.is_empty())
        .map(|calls| calls.iter().map(&mut call).collect())
        .collect();
    threads.filter(|threads| threads.len() > 1).map(|threads| Client { threads })
}

/// Can each session be found in a thread of its own?
fn contains(client: &Client, hints: &[Vec<String>]) -> bool {
    fn fit(threads: &[Vec<Call>], taken: &mut Vec<bool>, hints: &[Vec<String>]) -> bool {
        let Some((session, rest)) = hints.split_first() else { return true };
        (0..threads.len()).any(|index| {
            if taken[index] || !within(session, &threads[index]) {
                return false;
            }
            taken[index] = true;
            let fits = fit(threads, taken, rest);
            taken[index] = false;
            fits
        })
    }
    fit(&client.threads, &mut vec![false; client.threads.len()], hints)
}

/// Are the methods called in this order, perhaps with others in between?
fn within(session: &[String], calls: &[Call]) -> bool {
    let mut calls = calls.iter();
    session.iter().all(|method| calls.any(|call| call.method == *method))
}

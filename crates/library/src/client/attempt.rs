//! A partial execution of a proof that failed, tried on real clients: first on those that it suggests, then on all small ones.

use super::check::{Checked, Limits, check};
use super::{Call, Client, Plain, enumerate, respects};
use crate::code::Library;
use crate::prove::{Invocation, Partial};
use seqcst_report::{Answer, Verdict};
use std::fmt;
use std::time::{Duration, Instant};

/// Which clients to try, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Threads of a client.
    pub threads: usize,
    /// Calls of a thread; where the contract allows two threads only, two calls more.
    pub calls: usize,
    /// Limits for each client.
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
    /// Its threads and their calls.
    pub client: Client,
    /// Its program, and the execution that SC does not have.
    pub checked: Checked,
}

impl Confirmed {
    /// What the client shows, in words.
    pub fn shows(&self) -> &'static str {
        match self.checked.answer.verdict {
            Verdict::Race => "it has a data race",
            _ => "it does what SC does not allow",
        }
    }
}

/// The result of a search for clients.
#[derive(Clone, Debug)]
pub enum Tried {
    /// There is such a client.
    Confirmed(Box<Confirmed>),
    /// None was found.
    NotConfirmed(Box<Searched>),
}

/// How far a search got that found nothing.
#[derive(Clone, Debug, Default)]
pub struct Searched {
    /// The bounds of the search.
    pub bounds: Bounds,
    /// Clients that are robust.
    pub robust: usize,
    /// Clients that leave SC only in executions that block for ever.
    pub unfinished: usize,
    /// Clients without an answer, and why.
    pub open: Vec<(Client, String)>,
    /// Did the time limit end the search before all clients within the bounds were tried?
    pub is_late: bool,
    /// States visited in all.
    pub states: u64,
    /// The search for data races that came after it.
    pub races: Option<Box<Searched>>,
}

impl fmt::Display for Searched {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Bounds { threads, calls, time, .. } = &self.bounds;
        let (clients, are) = if self.robust == 1 { ("client", "is") } else { ("clients", "are") };
        write!(
            f,
            "{} {clients} with up to {threads} threads of up to {calls} calls {are} robust ({} states)",
            self.robust, self.states
        )?;
        if self.unfinished > 0 {
            write!(f, ", {} leave SC only where they block for ever", self.unfinished)?;
        }
        if let Some((_, why)) = self.open.first() {
            write!(f, ", {} without an answer ({why})", self.open.len())?;
        }
        if self.is_late {
            write!(f, ", no time for the rest (limit of {} s)", time.as_secs_f64())?;
        }
        match &self.races {
            Some(races) => write!(f, "; data races: {races}"),
            None => Ok(()),
        }
    }
}

/// Tries every client in turn, until one is confirmed or time is up. `judge` says what a result means for the search.
fn search(
    library: &Library,
    clients: Vec<Client>,
    plain: Plain,
    bounds: &Bounds,
    judge: impl Fn(&Checked) -> Judged,
) -> Tried {
    let start = Instant::now();
    let mut searched = Box::new(Searched { bounds: *bounds, ..Searched::default() });
    for client in clients {
        let left = bounds.time.saturating_sub(start.elapsed());
        if left.is_zero() {
            searched.is_late = true;
            break;
        }
        let limits = Limits { time: bounds.limits.time.min(left), ..bounds.limits };
        match check(library, &client, plain, &limits) {
            Err(unsupported) => searched.open.push((client, unsupported.to_string())),
            Ok(checked) => {
                searched.states += checked.states;
                match judge(&checked) {
                    Judged::Confirms => return Tried::Confirmed(Box::new(Confirmed { client, checked })),
                    Judged::Robust => searched.robust += 1,
                    Judged::Unfinished => searched.unfinished += 1,
                    Judged::Open(why) => searched.open.push((client, why)),
                }
            }
        }
    }
    Tried::NotConfirmed(searched)
}

/// The meaning of a checked client for a search.
enum Judged {
    Confirms,
    Robust,
    Unfinished,
    Open(String),
}

/// So many calls more if there can be two threads only.
const MORE_CALLS: usize = 2;

/// Looks for a client that shows that the library (after ρ) is not robust. `hints` are the methods of the sessions of a partial
/// execution, in order.
pub fn try_witness(library: &Library, hints: &[Vec<String>], bounds: &Bounds) -> Tried {
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
    search(library, clients, Plain::Relaxed, bounds, |checked| {
        match (checked.answer.verdict, checked.is_complete) {
            (Verdict::Robust, _) => Judged::Robust,
            (Verdict::NotRobust, Some(true)) => Judged::Confirms,
            (Verdict::NotRobust, Some(false)) => Judged::Unfinished,
            (Verdict::NotRobust, None) => Judged::Open(UNDECIDED.to_owned()),
            _ => Judged::Open(why(&checked.answer)),
        }
    })
}

/// Looks for a client with a data race.
pub fn try_races(library: &Library, bounds: &Bounds) -> Tried {
    let clients = enumerate(library, bounds.threads, bounds.calls);
    let bounds = &Bounds { limits: Limits { time: bounds.time, ..bounds.limits }, ..*bounds };
    search(library, clients, Plain::NonAtomic, bounds, |checked| match checked.answer.verdict {
        Verdict::Race => Judged::Confirms,
        Verdict::GaveUp => Judged::Open(why(&checked.answer)),
        // Violations of another kind end a search, too: whether there is a race is not known.
        Verdict::NotRobust => Judged::Open("it is not robust".to_owned()),
        _ => Judged::Robust,
    })
}

/// Looks for a client that does what a partial execution does, then for any other.
pub fn try_partial(library: &Library, partial: &Partial, bounds: &Bounds) -> Tried {
    if partial.is_race {
        return try_races(library, bounds);
    }
    // A call that stands for several is written `lock…unlock`.
    let methods = |calls: Vec<&Invocation>| {
        calls.iter().flat_map(|it| it.method.split('…')).map(str::to_owned).collect()
    };
    let hints: Vec<Vec<String>> = partial.sessions().map(methods).collect();
    try_witness(library, &hints, bounds)
}

/// Looks for any client, of either kind.
pub fn try_any(library: &Library, bounds: &Bounds) -> Tried {
    match try_witness(library, &[], bounds) {
        Tried::NotConfirmed(mut searched) if library.classes.iter().any(|class| !class.is_atomic) => {
            match try_races(library, bounds) {
                Tried::NotConfirmed(races) => {
                    searched.races = Some(races);
                    Tried::NotConfirmed(searched)
                }
                confirmed => confirmed,
            }
        }
        tried => tried,
    }
}

const UNDECIDED: &str =
    "part of an execution is not SC, and whether it can be completed was not decided in time";

fn why(answer: &Answer) -> String {
    answer.limit.clone().unwrap_or_else(|| answer.verdict.headline().to_owned())
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

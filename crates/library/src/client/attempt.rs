//! A partial execution of a proof that failed, tried on real clients: first on those that it suggests, then on all small ones.

use super::check::{Checked, Limits, check};
use super::{Call, Client, Plain, arguments, enumerate, objects, respects};
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
    /// Were data races looked for as well? (Is there any plain memory?)
    pub with_races: bool,
    /// Clients that are robust, have no data race, and could have shown otherwise.
    pub robust: usize,
    /// Clients that never come to an end, or with no two threads that access memory.
    pub idle: usize,
    /// Clients that leave SC only in executions that block for ever.
    pub unfinished: usize,
    /// Clients without an answer, and why.
    pub open: Vec<(Client, String)>,
    /// Clients that were not tried any more when time was up.
    pub left: usize,
    /// States visited in all.
    pub states: u64,
}

impl fmt::Display for Searched {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Bounds { threads, calls, time, .. } = &self.bounds;
        let (clients, are) = if self.robust == 1 { ("client", "is") } else { ("clients", "are") };
        let races = if self.with_races { " and free of data races" } else { "" };
        write!(
            f,
            "{} {clients} with up to {threads} threads of up to {calls} calls {are} robust{races} ({} states)",
            self.robust, self.states
        )?;
        if self.idle > 0 {
            write!(
                f,
                ", {} can show nothing (no execution comes to an end, or no two threads access memory)",
                self.idle
            )?;
        }
        if self.unfinished > 0 {
            write!(f, ", {} leave SC only where they block for ever", self.unfinished)?;
        }
        if let Some((_, why)) = self.open.first() {
            write!(f, ", {} without an answer ({why})", self.open.len())?;
        }
        if self.left > 0 {
            write!(f, ", no time for {} others (limit of {} s)", self.left, time.as_secs_f64())?;
        }
        Ok(())
    }
}

/// Tries every client in turn, until one is confirmed or time is up.
fn search(library: &Library, clients: Vec<Client>, bounds: &Bounds) -> Tried {
    let start = Instant::now();
    let with_races = library.classes.iter().any(|class| !class.is_atomic);
    let mut searched = Box::new(Searched { bounds: *bounds, with_races, ..Searched::default() });
    let count = clients.len();
    for (number, client) in clients.into_iter().enumerate() {
        let left = bounds.time.saturating_sub(start.elapsed());
        if left.is_zero() {
            searched.left = count - number;
            break;
        }
        let limits = Limits { time: bounds.limits.time.min(left), ..bounds.limits };
        match judge(library, &client, with_races, &limits, &mut searched.states) {
            Judged::Confirms(checked) => {
                return Tried::Confirmed(Box::new(Confirmed { client, checked: *checked }));
            }
            Judged::Robust => searched.robust += 1,
            Judged::Idle => searched.idle += 1,
            Judged::Unfinished => searched.unfinished += 1,
            Judged::Open(why) => searched.open.push((client, why)),
        }
    }
    Tried::NotConfirmed(searched)
}

/// The meaning of a client for a search.
enum Judged {
    Confirms(Box<Checked>),
    Robust,
    Idle,
    Unfinished,
    Open(String),
}

/// Checks a client: for data races and robustness at once; then, if it is not robust, without races, as a violation that is
/// part of executions that block for ever means nothing.
fn judge(library: &Library, client: &Client, with_races: bool, limits: &Limits, states: &mut u64) -> Judged {
    let kinds = if with_races { &[Plain::NonAtomic, Plain::Relaxed][..] } else { &[Plain::Relaxed] };
    for plain in kinds {
        let checked = match check(library, client, *plain, limits) {
            Ok(checked) => checked,
            Err(unsupported) => return Judged::Open(unsupported.to_string()),
        };
        *states += checked.states;
        match (checked.answer.verdict, checked.is_complete) {
            (Verdict::Race, _) => return Judged::Confirms(Box::new(checked)),
            (Verdict::Robust, _) if checked.limit.is_some() => {
                return Judged::Open(checked.limit.unwrap_or_default());
            }
            (Verdict::Robust, _) if !checked.shows_something => return Judged::Idle,
            (Verdict::Robust, _) => return Judged::Robust,
            (Verdict::NotRobust, _) if *plain == Plain::NonAtomic => {}
            (Verdict::NotRobust, Some(true)) => return Judged::Confirms(Box::new(checked)),
            (Verdict::NotRobust, Some(false)) => return Judged::Unfinished,
            (Verdict::NotRobust, None) => return Judged::Open(UNDECIDED.to_owned()),
            _ => return Judged::Open(why(&checked.answer)),
        }
    }
    Judged::Open(UNDECIDED.to_owned())
}

/// So many calls more if there can be two threads only.
const MORE_CALLS: usize = 2;

/// Looks for a client that shows that the library (after ρ) is not robust, or that has a data race. `hints` are the methods of
/// the sessions of a partial execution, in order.
pub fn try_witness(library: &Library, hints: &[Vec<String>], bounds: &Bounds) -> Tried {
    try_witness_among(library, hints, bounds, &|_| true)
}

/// Does the same, among some clients only.
pub fn try_witness_among(
    library: &Library,
    hints: &[Vec<String>],
    bounds: &Bounds,
    is_one: &dyn Fn(&Client) -> bool,
) -> Tried {
    let mut bounds = *bounds;
    let mut clients = enumerate(library, bounds.threads, bounds.calls);
    if bounds.threads > 2 && clients.iter().all(|client| client.threads.len() == 2) {
        // The contract allows two threads only: these may call more.
        bounds = Bounds { threads: 2, calls: bounds.calls + MORE_CALLS, ..bounds };
        clients = enumerate(library, bounds.threads, bounds.calls);
    }
    // Those that do what the partial execution does come first; the order is kept otherwise.
    clients.sort_by_key(|client| !contains(client, hints));
    if let Some(client) = suggested(library, hints).filter(|client| respects(library, client)) {
        clients.retain(|other| *other != client);
        // It may be larger than was asked for; what is said of the search must hold for it, too.
        bounds.threads = bounds.threads.max(client.threads.len());
        bounds.calls = client.threads.iter().map(Vec::len).fold(bounds.calls, usize::max);
        clients.insert(0, client);
    }
    clients.retain(is_one);
    search(library, clients, &bounds)
}

/// Looks for a client that does what a partial execution does, then for any other.
pub fn try_partial(library: &Library, partial: &Partial, bounds: &Bounds) -> Tried {
    // A call that stands for several is written `lock…unlock`.
    let methods = |calls: Vec<&Invocation>| {
        calls.iter().flat_map(|it| it.method.split('…')).map(str::to_owned).collect()
    };
    let hints: Vec<Vec<String>> = partial.sessions().map(methods).collect();
    try_witness(library, &hints, bounds)
}

/// Looks for any client.
pub fn try_any(library: &Library, bounds: &Bounds) -> Tried {
    try_witness(library, &[], bounds)
}

/// Looks for a client that uses two objects of the library. None if there can be none, or none that is modelled.
pub fn try_objects(library: &Library, bounds: &Bounds) -> Option<Tried> {
    let two = objects::two(library)?;
    let mut clients = enumerate(&two, bounds.threads, bounds.calls);
    clients.retain(objects::uses_both);
    // Store buffering is what to expect: every thread goes from one object to the other.
    clients.sort_by_key(|client| client.threads.len() - objects::threads_with_both(client));
    Some(search(&two, clients, bounds))
}

const UNDECIDED: &str =
    "part of an execution is not SC, and whether it can be completed was not decided in time";

fn why(answer: &Answer) -> String {
    answer.limit.clone().unwrap_or_else(|| answer.verdict.headline().to_owned())
}

/// The client of a partial execution: a thread per session, with different arguments.
fn suggested(library: &Library, hints: &[Vec<String>]) -> Option<Client> {
    let method = |name: &String| library.methods.iter().find(|method| method.name == *name);
    let sessions: Vec<&Vec<String>> = hints.iter().filter(|calls| !calls.is_empty()).collect();
    let mut parameters = Vec::new();
    for (thread, calls) in sessions.iter().enumerate() {
        for name in *calls {
            parameters.extend(arguments::parameters(method(name)?, thread));
        }
    }
    let mut next = arguments::different(&parameters).into_iter();
    let mut call = |name: &String| {
        let count = method(name)?.parameters.len();
        Some(Call { method: name.clone(), arguments: next.by_ref().take(count).collect() })
    };
    let threads: Option<Vec<Vec<Call>>> =
        sessions.iter().map(|calls| calls.iter().map(&mut call).collect()).collect();
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

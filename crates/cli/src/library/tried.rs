//! Clients that confirm that a library is not robust.

use super::witness;
use seqcst_library::client::{self, Bounds, Client, Limits, Plain};
use seqcst_library::code::Library;
use seqcst_library::prove::{Invocation, Partial};
use seqcst_report::{Finding, Verdict};
use std::time::{Duration, Instant};

/// What came of looking for a client.
pub enum Tried {
    /// There is one.
    Confirmed {
        /// The calls of its threads.
        threads: Vec<Vec<String>>,
        /// What it shows.
        what: &'static str,
        /// An execution of it that SC does not have, or a race.
        finding: Box<Finding>,
    },
    /// There is none within bounds, or it was not found.
    NotConfirmed {
        /// How far the search got.
        words: String,
    },
}

/// Looks for a client that does what a part of an execution does, then for any other.
pub fn look(library: &Library, partial: &Partial, bounds: &(usize, usize), time: Duration) -> Tried {
    let sessions = partial.invocations.iter().map(|it| it.session + 1).max().unwrap_or(0);
    let hints = (0..sessions).map(|session| {
        let mut calls: Vec<&Invocation> =
            partial.invocations.iter().filter(|it| it.session == session).collect();
        calls.sort_by_key(|it| witness::begins(it));
        // A call that stands for several is written `lock…unlock`.
        calls.iter().flat_map(|it| it.method.split('…')).map(str::to_owned).collect()
    });
    match partial.is_race {
        true => race(library, bounds, time),
        false => sessions_of(library, hints.collect(), bounds, time),
    }
}

/// Looks for a client whose threads call these methods, then for any other.
pub fn sessions_of(
    library: &Library,
    hints: Vec<Vec<String>>,
    bounds: &(usize, usize),
    time: Duration,
) -> Tried {
    let all = Bounds { threads: bounds.0, calls: bounds.1, time, ..Bounds::default() };
    match client::try_witness(library, &hints, &all) {
        client::Tried::Confirmed(confirmed) => found(&confirmed.client, confirmed.checked.finding),
        client::Tried::NotConfirmed { robust, unfinished, open, is_complete, states } => {
            let robust = Searched { robust, unfinished, open, is_complete, states };
            Tried::NotConfirmed { words: robust.words(bounds, time) }
        }
    }
}

/// Looks for any client, of either kind.
pub fn any(library: &Library, bounds: &(usize, usize), time: Duration) -> Tried {
    match sessions_of(library, Vec::new(), bounds, time) {
        Tried::NotConfirmed { words } if library.classes.iter().any(|class| !class.is_atomic) => {
            match race(library, bounds, time) {
                Tried::NotConfirmed { words: races } => {
                    Tried::NotConfirmed { words: format!("{words}; data races: {races}") }
                }
                confirmed => confirmed,
            }
        }
        tried => tried,
    }
}

/// Looks for a client with a data race.
fn race(library: &Library, bounds: &(usize, usize), time: Duration) -> Tried {
    let start = Instant::now();
    let mut searched = Searched { is_complete: true, ..Searched::default() };
    for client in client::enumerate(library, bounds.0, bounds.1) {
        let left = time.saturating_sub(start.elapsed());
        if left.is_zero() {
            searched.is_complete = false;
            break;
        }
        let limits = Limits { time: left, ..Limits::default() };
        match client::check(library, &client, Plain::NonAtomic, &limits) {
            Err(unsupported) => searched.open.push((client, unsupported.to_string())),
            Ok(checked) => {
                searched.states += checked.finding.states;
                match &checked.finding.verdict {
                    Verdict::Race => return found(&client, checked.finding),
                    Verdict::GaveUp(why) => searched.open.push((client, why.clone())),
                    // Violations of another kind end a search, too: whether there is a race is not known.
                    Verdict::NotRobust => searched.open.push((client, "it is not robust".to_owned())),
                    _ => searched.robust += 1,
                }
            }
        }
    }
    Tried::NotConfirmed { words: searched.words(bounds, time) }
}

fn found(client: &Client, finding: Finding) -> Tried {
    let threads =
        client.threads.iter().map(|calls| calls.iter().map(ToString::to_string).collect()).collect();
    let what = match finding.verdict {
        Verdict::Race => "it has a data race",
        _ => "it does what SC does not allow",
    };
    Tried::Confirmed { threads, what, finding: Box::new(finding) }
}

/// How far a search got that found nothing.
#[derive(Default)]
struct Searched {
    robust: usize,
    unfinished: usize,
    open: Vec<(Client, String)>,
    is_complete: bool,
    states: u64,
}

impl Searched {
    fn words(&self, (threads, calls): &(usize, usize), time: Duration) -> String {
        let mut words = format!(
            "{} {} with up to {threads} threads of up to {calls} calls {} robust ({} states)",
            self.robust,
            if self.robust == 1 { "client" } else { "clients" },
            if self.robust == 1 { "is" } else { "are" },
            self.states
        );
        if self.unfinished > 0 {
            words += &format!(", {} leave SC only where they block for ever", self.unfinished);
        }
        if let Some((_, why)) = self.open.first() {
            words += &format!(", {} without an answer ({why})", self.open.len());
        }
        if !self.is_complete {
            words += &format!(", no time for the rest (limit of {} s)", time.as_secs_f64());
        }
        words
    }
}

//! What is wrong with an execution, in words.

use crate::format::{cut, one_line};
use crate::view::View;
use crate::{Edge, Problem, Relation};
use seqcst_model::{Mode, Model};

/// The problem in words: where it is, then pairs of a keyword and a clause about it.
pub(crate) struct Account {
    /// `step 4, `b = x.load(rlx)` in t2 (line 12)`
    pub place: String,
    /// E.g. `SC`: `must read 1 from step 1, because …`.
    pub clauses: Vec<(String, String)>,
    /// The place and all clauses as one sentence.
    pub sentence: String,
}

/// A relation's letters.
pub(crate) fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Po => "po",
        Relation::Rf => "rf",
        Relation::Mo => "mo",
        Relation::Fr => "fr",
    }
}

/// The stale access in short: what SC says, what the model allows.
pub(crate) struct Stale {
    /// `reads 1 from step 1`, `finds 1 from step 1 and waits`, `lands after step 3`
    pub sc: String,
    /// `may read 0 from the initial write`, `may land before step 3`
    pub weak: String,
}

/// The stale access in short, if that is the problem.
pub(crate) fn stale(view: &View) -> Option<Stale> {
    let Problem::Stale { access, latest, older, reads, waits, .. } = view.witness.problem else {
        return None;
    };
    let (new, old) = (view.name(latest), view.name(older));
    Some(if reads {
        let (sc, weak) = stale_values(view, access, latest);
        let sc =
            if waits { format!("finds {sc} from {new} and waits") } else { format!("reads {sc} from {new}") };
        Stale { sc, weak: format!("may read {weak} from {old}") }
    } else {
        Stale { sc: format!("lands after {new}"), weak: format!("may land before {new}") }
    })
}

/// The value that SC makes an access read, and the one that the model allows.
fn stale_values(view: &View, access: usize, latest: usize) -> (String, String) {
    let effect = |event: usize| view.witness.events.get(event).and_then(|event| event.effect);
    let show = |value: Option<i64>| value.map_or("?".to_owned(), |value| value.to_string());
    let written = effect(latest).and_then(|effect| effect.value_written());
    let read = effect(access).and_then(|effect| effect.value_read());
    (show(written), show(read))
}

/// The problem in words.
pub(crate) fn account(view: &View) -> Account {
    let (place, clauses, sentence) = match &view.witness.problem {
        Problem::Stale { access, latest, older, reads, waits, path, cycle, axiom } => {
            let place = place(view, *access);
            let (new, old) = (view.name(*latest), view.name(*older));
            let because = match chain(view, path) {
                Some(chain) => format!("because {chain}"),
                None => format!("because {new} comes before it"),
            };
            let thread = thread_of(view, *access);
            let missing = format!("nothing synchronises {new} with {thread} (no happens-before)");
            let (sc, weak) = if *reads {
                let (sc, weak) = stale_values(view, *access, *latest);
                let must = if *waits {
                    format!("finds {sc} from {new} and must wait")
                } else {
                    format!("must read {sc} from {new}")
                };
                (format!("{must}, {because}"), format!("may still read {weak} from {old}: {missing}"))
            } else {
                (
                    format!("must land after {new} in modification order, {because}"),
                    format!("may still land right after {old}, before {new}: {missing}"),
                )
            };
            let model = view.witness.model.to_string();
            let sentence = format!("{place}: under SC it {sc}; under {model} it {weak}");
            let mut clauses = vec![("SC".to_owned(), format!("it {sc}")), (model, format!("it {weak}"))];
            clauses.extend(sc_order(view, *access, *latest, path).map(|why| ("seq_cst".to_owned(), why)));
            // The path is known by now: only what closes it to a cycle is news.
            let closing = cycle.strip_prefix(path.as_slice()).unwrap_or(cycle);
            if let Some(chain) = chain(view, closing) {
                let axiom =
                    if axiom.trim().is_empty() { "that is a cycle".to_owned() } else { one_line(axiom) };
                clauses.push(("so".to_owned(), format!("{chain}, and {axiom}")));
            }
            (place, clauses, sentence)
        }
        Problem::Race { first, second } => {
            let (a, b) = (place(view, *first), place(view, *second));
            let location = view.row(*second).and_then(|r| view.event(r).location.clone());
            let location = location.map_or("the same location".to_owned(), |l| one_line(&l));
            let detail =
                format!("both access {location}, not both read it, and no happens-before orders them");
            let sentence = format!("{a} races with {b}: {detail}");
            (a, vec![("races with".to_owned(), b), ("race".to_owned(), detail)], sentence)
        }
        Problem::Unproved { newest, access, why } => {
            let (new, model) = (view.name(*newest), view.witness.model.to_string());
            let place = place(view, *access);
            let sc = format!("it comes after {new}, the newest write there");
            let weak = format!("it may miss that: nothing makes {new} known to it (no happens-before)");
            let sentence = format!("{place}: {}", one_line(why));
            (place, vec![("SC".to_owned(), sc), (model, weak), ("so".to_owned(), one_line(why))], sentence)
        }
        Problem::Assertion { thread, text, line, .. } => {
            let place = stop(view, *thread, text, *line);
            let detail = format!("fails after {}, in a run that SC allows too", last(view));
            let sentence = format!("{place}: {detail}");
            (place, vec![("assertion".to_owned(), detail)], sentence)
        }
        Problem::Deadlock { thread, text, line, .. } => {
            let place = stop(view, *thread, text, *line);
            let detail = format!("stuck for ever after {}: no other thread can let it go on", last(view));
            let sentence = format!("{place}: {detail}");
            (place, vec![("deadlock".to_owned(), detail)], sentence)
        }
    };
    Account { place, clauses, sentence }
}

/// Why the order of SC accesses does not keep the access from being stale, where some of the accesses concerned are SC: others
/// are not.
fn sc_order(view: &View, access: usize, latest: usize, path: &[Edge]) -> Option<String> {
    if view.witness.model != Model::Rc11 {
        return None;
    }
    let mut concerned = vec![latest];
    for edge in path.iter().filter(|edge| edge.relation != Relation::Po) {
        concerned.extend([edge.from, edge.to]);
    }
    concerned.push(access);
    concerned.dedup();
    let is_sc = |&event: &usize| view.witness.events.get(event).and_then(|e| e.mode) == Some(Mode::SeqCst);
    let mut weaker: Vec<String> = Vec::new();
    for event in concerned.iter().filter(|event| !is_sc(event)) {
        let name = view.name(*event);
        if !weaker.contains(&name) {
            weaker.push(name);
        }
    }
    let is_mixed = concerned.iter().any(is_sc) && (1..=3).contains(&weaker.len());
    let are = if weaker.len() == 1 { "is" } else { "are" };
    is_mixed.then(|| {
        format!("the order of SC accesses does not cover that, as {} {are} not seq_cst", weaker.join(" and "))
    })
}

/// `step 1 →po step 2 →fr step 3`, steps in a row of `po` as one.
pub(crate) fn chain(view: &View, path: &[Edge]) -> Option<String> {
    let mut hops: Vec<(usize, usize, Relation)> = Vec::new();
    for edge in path {
        let (from, to) = (view.row(edge.from)?, view.row(edge.to)?);
        match hops.last_mut() {
            _ if from == to => {}
            Some(hop) if hop.2 == Relation::Po && edge.relation == Relation::Po && hop.1 == from => {
                hop.1 = to
            }
            _ => hops.push((from, to, edge.relation)),
        }
    }
    let name = |row: usize| view.name(view.rows[row].event);
    let mut out = name(hops.first()?.0);
    for (_, to, rel) in &hops {
        out.push_str(&format!(" →{} {}", relation(*rel), name(*to)));
    }
    Some(out)
}

/// `step 4, `b = x.load(rlx)` in t2 (line 12)`
fn place(view: &View, event: usize) -> String {
    let Some(row) = view.row(event) else { return "an unknown access".to_owned() };
    let line = view.event(row).line;
    let line = if line > 0 { format!(" (line {line})") } else { String::new() };
    match view.rows[row].thread {
        Some(thread) => {
            let statement = cut(&view.statement(row), 72);
            format!("{}, `{statement}` in {}{line}", view.name(event), view.thread_name(thread))
        }
        None => format!("the initial write {}{line}", view.label(row)),
    }
}

fn stop(view: &View, thread: usize, text: &str, line: usize) -> String {
    format!("`{}` in {} (line {line})", cut(&one_line(text), 72), view.thread_name(thread))
}

fn thread_of(view: &View, event: usize) -> String {
    let thread = view.row(event).and_then(|r| view.rows[r].thread);
    thread.map_or("it".to_owned(), |t| view.thread_name(t))
}

fn last(view: &View) -> String {
    match view.rows.last() {
        Some(row) if row.thread.is_some() => format!("step {}", row.step),
        _ => "no step at all".to_owned(),
    }
}

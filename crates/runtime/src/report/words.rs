//! Accesses, threads and repairs in words.

use super::repair::{Needs, Repair};
use super::{Access, Report, Step, Swap};
use crate::journal::{Edge, EventKind};
use seqcst_model::Mode;

/// As in the sources.
pub fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::NonAtomic => "plain",
        Mode::Relaxed => "relaxed",
        Mode::Acquire => "acquire",
        Mode::Release => "release",
        Mode::AcqRel => "acq_rel",
        Mode::SeqCst => "seq_cst",
    }
}

/// The main thread is number 0.
pub fn thread(number: u32) -> String {
    if number == 0 { "the main thread".to_owned() } else { format!("thread {number}") }
}

/// What it is.
pub fn what(what: EventKind) -> &'static str {
    match what {
        EventKind::Load => "load",
        EventKind::Store => "store",
        EventKind::Rmw => "read-modify-write",
        EventKind::FailedCas => "failed compare-and-swap",
        EventKind::Fence => "fence",
        EventKind::Acquire => "acquire",
        EventKind::Release => "release",
        EventKind::Spawn => "thread creation",
        EventKind::Begin => "thread begin",
        EventKind::End => "thread end",
        EventKind::Join => "join",
        EventKind::Free => "free",
        EventKind::Allocate => "allocation",
        EventKind::Destroy => "destruction",
    }
}

/// In a table, where room is short.
pub fn short_what(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Rmw => "rmw",
        EventKind::FailedCas => "cas fails",
        EventKind::Spawn => "create",
        EventKind::Begin => "begin",
        EventKind::End => "end",
        other => what(other),
    }
}

/// `write of 4 bytes` or `atomic store of 4 bytes (release)`, for races.
pub fn race_access(access: &Access) -> String {
    let Access { size, .. } = access;
    match (access.what, access.mode) {
        (EventKind::Free, _) => "free of memory".to_owned(),
        (EventKind::Acquire | EventKind::Release, _) => "use of a lock".to_owned(),
        (EventKind::Load, None) => format!("plain read of {}", bytes(*size)),
        (_, None) => format!("plain write of {}", bytes(*size)),
        (kind, Some(Mode::NonAtomic)) => format!("atomic {} of {}", what(kind), bytes(*size)),
        (kind, Some(order)) => format!("atomic {} of {} ({})", what(kind), bytes(*size), mode(order)),
    }
}

/// `store of 4 bytes (release)`
pub fn atomic_access(access: &Access) -> String {
    let order = access.mode.map(|order| format!(" ({})", mode(order))).unwrap_or_default();
    format!("{} of {}{order}", what(access.what), bytes(access.size))
}

/// What a compare-and-swap came to, and what else it may come to.
pub fn swap(swap: &Swap) -> String {
    let Swap { expected, found, old, failure } = swap;
    let failed = found != expected;
    let others: Vec<String> = old.iter().filter(|&value| value != expected).map(u64::to_string).collect();
    let well = |same: bool| if same { " as well" } else { "" };
    let mut may = Vec::new();
    if !others.is_empty() {
        let others = others.join(" or ");
        may.push(format!("find {others} and fail{} (a load, {})", well(failed), mode(*failure)));
    }
    if others.len() < old.len() {
        may.push(format!("find an older {expected} and succeed{}", well(!failed)));
    }
    let came = if failed { "failed" } else { "succeeded" };
    format!("It expects {expected}, found {found} and {came}; it may {}.", may.join(", or "))
}

fn bytes(size: u8) -> String {
    if size == 1 { "1 byte".to_owned() } else { format!("{size} bytes") }
}

/// The first letter large.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Why a link of a chain comes after the one before.
pub fn edge(edge: Edge) -> &'static str {
    match edge {
        Edge::Start => "the write that can be missed",
        Edge::Program => "program order",
        Edge::ReadsFrom => "reads it (rf)",
        Edge::ReadsLater => "reads a later write (mo, rf)",
        Edge::Overwrites => "comes later at this location (mo)",
        Edge::FromRead => "overwrites what was read (fr)",
        Edge::Synchronises => "synchronises",
    }
}

/// A repair as a sentence, or nothing. `place` is where the stale access is.
pub fn repair(report: &Report, advice: &Repair) -> String {
    let chain = &report.chain;
    match advice {
        Repair::Unknown => String::new(),
        Repair::Strengthen(weak) => {
            let mut parts: Vec<String> = Vec::new();
            for &(index, needs) in weak {
                let Some(step) = chain.get(index) else { continue };
                let part = strengthen(step, needs);
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
            format!("make {}.", parts.join(" and "))
        }
        Repair::Fences { open, weak } if (1..=3).contains(&weak.len()) => {
            let weak: Vec<String> = weak.iter().map(|&index| access(report, index)).collect();
            let (weak, are) = (weak.join(" and "), if weak.len() == 1 { "is" } else { "are" });
            let why =
                format!("the order of seq_cst accesses does not cover this, as {weak} {are} not seq_cst");
            format!("{why}: {}", fences(report, open, &weak))
        }
        Repair::Fences { open, .. } => fences(report, open, "all of these accesses"),
        Repair::Flush(open) if open.len() == 1 => fences(report, open, "the store"),
        Repair::Flush(open) => fences(report, open, "the stores"),
    }
}

/// Fences between these links and the ones after them, or `what` seq_cst.
fn fences(report: &Report, open: &[usize], what: &str) -> String {
    let (place, chain) = (report.access.exact_place(), &report.chain);
    let mut gaps: Vec<String> = Vec::new();
    for &index in open {
        let Some(step) = chain.get(index) else { continue };
        let end = chain.get(index + 1).map_or_else(|| place.clone(), Step::exact_place);
        let gap = format!("{} and {end}", step.exact_place());
        if !gaps.contains(&gap) {
            gaps.push(gap);
        }
    }
    let fence = fence(&report.access.file());
    format!("put {fence} between {}; or make {what} seq_cst.", gaps.join(", and between "))
}

/// `the store at file:line:column`: a link of the chain, or the stale access after it.
fn access(report: &Report, index: usize) -> String {
    match report.chain.get(index) {
        Some(step) => format!("the {} at {}", what(step.link.what), step.exact_place()),
        None => format!("the {} at {}", what(report.access.access.what), report.access.exact_place()),
    }
}

fn strengthen(step: &Step, needs: Needs) -> String {
    let acquires = step.link.mode.is_acquire() || needs != Needs::Release;
    let releases = step.link.mode.is_release() || needs != Needs::Acquire;
    let wanted = match (acquires, releases) {
        (true, true) => "acq_rel",
        (true, false) => "acquire",
        (false, _) => "release",
    };
    let now = mode(step.link.mode);
    match step.link.what {
        EventKind::FailedCas => {
            format!("the failure ordering at {} {wanted} (now {now})", step.exact_place())
        }
        kind => format!("the {} at {} {wanted} (now {now})", what(kind), step.exact_place()),
    }
}

fn fence(file: &str) -> &'static str {
    let is = |endings: &[&str]| endings.iter().any(|ending| file.ends_with(ending));
    if is(&[".rs"]) {
        "fence(Ordering::SeqCst)"
    } else if is(&[".cc", ".cpp", ".cxx", ".C", ".hpp", ".hh", ".hxx"]) {
        "std::atomic_thread_fence(std::memory_order_seq_cst)"
    } else {
        "atomic_thread_fence(memory_order_seq_cst)"
    }
}

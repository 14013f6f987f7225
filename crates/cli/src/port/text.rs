//! An answer as text.

use super::answer::{Answer, Described, Loaded};
use super::fix::Written;
use crate::flags::PortFlags;
use seqcst_port::change::Strength;
use seqcst_port::ir::patch::Edit;
use seqcst_port::machine::{Fence, Machine};
use seqcst_port::program::{Place, What};
use std::collections::HashMap;
use std::fmt::Write;

/// The answer.
pub fn show(loaded: &Loaded, answer: &Answer, written: &Written, flags: &PortFlags, color: bool) -> String {
    let mut out = String::new();
    let mut sources = Sources::default();
    head(&mut out, loaded, answer, color);
    let faults = &answer.placement.before.faults;
    for fault in faults.iter().take(flags.show) {
        let (first, second) = (loaded.access(fault.first), loaded.access(fault.second));
        let _ = writeln!(out, "\n  {} may be done after {}", described(&first), described(&second));
        sources.show(&mut out, &first, "this one");
        sources.show(&mut out, &second, "and then this one");
        let cycle: Vec<String> = fault.cycle.iter().map(|&site| short(&loaded.access(site))).collect();
        if !cycle.is_empty() {
            let _ = writeln!(out, "    others can tell: {}", cycle.join(" → "));
        }
    }
    if faults.len() > flags.show {
        let more = faults.len() - flags.show;
        let _ = writeln!(out, "\n  {more} more {} (--show {} shows all)", plural(more, "pair"), faults.len());
    }
    if !faults.is_empty() {
        repair(&mut out, loaded, answer);
    }
    notes(&mut out, loaded);
    for line in &written.remarks {
        let _ = writeln!(out, "  {line}");
    }
    for file in written.names() {
        let _ = writeln!(out, "  written: {file}");
    }
    out
}

fn head(out: &mut String, loaded: &Loaded, answer: &Answer, color: bool) {
    let paint =
        |text: &str, code: &str| if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() };
    let faults = answer.placement.before.faults.len();
    let verdict = match answer.verdict() {
        "robust" => paint("robust", "1;32"),
        "gave-up" => {
            format!("{} {}", paint("gave up", "1;33"), answer.gave_up.as_deref().unwrap_or_default())
        }
        _ => format!(
            "{}: {faults} {} of accesses may be reordered",
            paint("not robust", "1;31"),
            plural(faults, "pair")
        ),
    };
    let _ = writeln!(out, "{}: {} → {}: {verdict}", loaded.name, answer.from, answer.to);
    if !answer.is_late() {
        counts(out, loaded, answer);
    }
    for assumption in &answer.assumptions {
        let _ = writeln!(out, "  assumed: {}", assumption.words);
    }
}

/// How large the program is, and how many fences it has and needs.
fn counts(out: &mut String, loaded: &Loaded, answer: &Answer) {
    let program = &loaded.ported.program;
    let names: Vec<&str> = program.functions.iter().map(|function| function.name.as_str()).collect();
    let shown = match names.len() {
        0..=4 => names.join(", "),
        _ => format!("{}, … ({})", names[..3].join(", "), names.len()),
    };
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    let accesses = nodes.filter(|node| matches!(node.what, What::Access(_) | What::Opaque { .. })).count();
    let _ = writeln!(
        out,
        "  threads: {shown}; {accesses} {}; fences: naive {}, existing {}, inserted {}; {:.3} s",
        plural(accesses, "access"),
        answer.naive,
        answer.existing,
        answer.edits.len(),
        answer.took.as_secs_f64()
    );
}

/// What to do.
fn repair(out: &mut String, loaded: &Loaded, answer: &Answer) {
    let how = if answer.placement.exact { "" } else { ", found by a greedy search: perhaps not the fewest" };
    let count = answer.edits.len();
    if !answer.placement.in_time {
        let _ = writeln!(out, "\n  no repair: gave up {}", loaded.limit());
        return;
    }
    let _ = writeln!(out, "\n  repair ({count} {}{how}):", plural(count, "change"));
    for &edit in &answer.edits {
        let place = loaded.place(edit).map_or("somewhere".to_owned(), |place| show_place(&place));
        let _ = writeln!(out, "    {place}: {}", change(loaded, edit, answer));
    }
    let left = answer.placement.after.faults.len();
    if left > 0 {
        let _ = writeln!(
            out,
            "    {left} {} remain that no fence can order (inside of calls)",
            plural(left, "pair")
        );
    }
}

/// A change in words.
pub fn change(loaded: &Loaded, edit: Edit, answer: &Answer) -> String {
    let swaps = loaded.swaps(edit);
    let (what, instruction) = match edit {
        Edit::Fence(_, fence) => return format!("a fence in front: {}", instruction(answer.to, fence)),
        Edit::Strengthen(_, Strength::Release) => ("a release", if swaps { "stlxr" } else { "stlr" }),
        Edit::Strengthen(_, Strength::Acquire) if swaps => ("an acquire", "ldaxr"),
        // An acquire load is `ldapr` there.
        Edit::Strengthen(_, Strength::Acquire) if answer.features.rcpc => ("seq_cst", "ldar"),
        Edit::Strengthen(_, Strength::Acquire) => ("an acquire", "ldar"),
        Edit::Strengthen(_, Strength::AcquirePc) => ("an acquire", "ldapr"),
    };
    format!("make it {what} ({instruction})")
}

/// A fence as it stands in assembly.
fn instruction(machine: Machine, fence: Fence) -> &'static str {
    match (machine, fence) {
        (Machine::X86 | Machine::Sc, _) => "mfence",
        (Machine::ArmV8, Fence::Load) => "dmb ishld",
        (_, Fence::Store) => "dmb ishst",
        _ => "dmb ish",
    }
}

/// What was treated conservatively.
fn notes(out: &mut String, loaded: &Loaded) {
    let notes = loaded.notes();
    for (words, times, place) in notes.iter().take(8) {
        let at = place.as_ref().map(|place| format!(" ({})", show_place(place))).unwrap_or_default();
        let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
        let _ = writeln!(out, "  note: {words}{at}{times}");
    }
    if notes.len() > 8 {
        let _ = writeln!(out, "  note: {} more, see --format json", notes.len() - 8);
    }
}

fn described(access: &Described) -> String {
    format!("the {} of {}", access.what, access.location)
}

fn short(access: &Described) -> String {
    let sign = if access.write { "W" } else { "R" };
    let line = access.place.as_ref().map(|place| format!(" (line {})", place.line)).unwrap_or_default();
    format!("{sign} {}{line}", access.location)
}

fn show_place(place: &Place) -> String {
    let here = std::env::current_dir().ok().map(|folder| format!("{}/", folder.display()));
    let file = here.and_then(|here| place.file.strip_prefix(&here)).unwrap_or(&place.file);
    let file: String = file.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    match place.column {
        0 => format!("{file}:{}", place.line),
        column => format!("{file}:{}:{column}", place.line),
    }
}

fn plural(number: usize, word: &str) -> String {
    match (number, word.ends_with('s')) {
        (1, _) => word.to_owned(),
        (_, true) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

/// Lines of sources, read once.
#[derive(Default)]
struct Sources {
    files: HashMap<String, Option<String>>,
}

impl Sources {
    fn show(&mut self, out: &mut String, access: &Described, what: &str) {
        let Some(place) = &access.place else {
            let _ = writeln!(out, "    in {}: {what}", access.function);
            return;
        };
        let text =
            self.files.entry(place.file.clone()).or_insert_with(|| std::fs::read_to_string(&place.file).ok());
        let line = text.as_ref().and_then(|text| text.lines().nth((place.line as usize).saturating_sub(1)));
        let line: String =
            line.unwrap_or_default().trim().chars().filter(|c| !c.is_control()).take(100).collect();
        let _ = writeln!(out, "    {}: {what}", show_place(place));
        if !line.is_empty() {
            let _ = writeln!(out, "      {:>5} | {line}", place.line);
        }
    }
}

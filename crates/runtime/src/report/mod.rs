//! Reports: what the monitors found, told to people once per pair of source positions, and counted.
//!
//! A violation in a hot loop comes millions of times: [`seen`] counts pairs of sites without locks, and only a new pair
//! goes on to be given names ([`symbols`]), compared with the reports there are, and printed ([`text`]). At exit
//! [`finish`] prints the totals and writes JSON ([`json`]).

mod counts;
mod found;
mod frames;
mod json;
mod modules;
mod output;
mod repair;
mod room;
mod seen;
mod symbols;
mod text;
mod words;

pub use found::{Access, Fate, Kind, Report, Shown, Step};
pub use frames::Frame;

use crate::context::Site;
use crate::journal::{Link, What};
use crate::options::{self, Options, Waits};
use crate::spin::Lock;
use crate::suppress::{self, Rule};
use crate::sys;
use core::sync::atomic::{AtomicU32, Ordering};
use counts::Counts;
use room::Room;
use seen::{Pair, Seen};
use seqcst_model::Model;
use std::collections::BTreeMap;
use std::ffi::CString;
use symbols::Symbols;
use text::Style;

static STATE: Lock<(State, Room)> = Lock::new((State::new(), Room::new()));

/// The kernel's number of the thread that has the state, or 0.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Uses the state, on the large stack. None if this thread is in the middle of that already: a signal handler came, or
/// it crashed there.
fn with_state<T>(work: impl FnOnce(&mut State) -> T) -> Option<T> {
    let me = sys::gettid();
    if OWNER.load(Ordering::Relaxed) == me {
        return None;
    }
    let (state, room) = &mut *STATE.lock();
    OWNER.store(me, Ordering::Relaxed);
    let result = room.enter(|| work(state));
    OWNER.store(0, Ordering::Relaxed);
    Some(result)
}

struct State {
    reports: Vec<Report>,
    by_position: BTreeMap<Key, usize>,
    symbols: Option<Symbols>,
    rules: Option<Vec<Rule>>,
    printed: usize,
    notes: Vec<String>,
    /// What the last summary said.
    told: Option<Counts>,
}

/// Kind, and the source positions of both accesses.
type Key = (Kind, [Option<(String, u64, u32)>; 2]);

/// The access may be stale: it can miss `missed`, and see `older` instead. `benign`: that only makes a loop wait longer.
#[inline]
pub fn stale(
    access: &Access,
    missed: Option<&Access>,
    older: Option<&Access>,
    chain: impl FnOnce() -> Vec<Link>,
    benign: bool,
) {
    let kind = if benign { Kind::Wait } else { Kind::Stale };
    let pair = match seen::count(kind, access.site, missed.map_or(Site::UNKNOWN, |missed| missed.site)) {
        Seen::Before => return,
        Seen::Never(pair) => Some(pair),
        Seen::NoRoom => None,
    };
    let chain = chain();
    // The journal knows more: the order of the write, and its thread even if another has its slot by now.
    let missed = missed.map(|missed| match chain.first() {
        Some(first) => Access { mode: Some(first.mode), thread: first.thread, ..*missed },
        None => *missed,
    });
    tell(&Violation { kind, access, other: missed.as_ref(), older, freed: false, chain }, pair);
}

/// Two accesses race: one of them plain, one of them a write. `freed`: the later one frees the memory.
#[inline]
pub fn race(now: &Access, before: &Access, freed: bool) {
    let pair = match seen::count(Kind::Race, now.site, before.site) {
        Seen::Before => return,
        Seen::Never(pair) => Some(pair),
        Seen::NoRoom => None,
    };
    let freed = freed || now.what == What::Free;
    let chain = Vec::new();
    let violation =
        Violation { kind: Kind::Race, access: now, other: Some(before), older: None, freed, chain };
    tell(&violation, pair);
}

#[cold]
fn tell(violation: &Violation<'_>, pair: Option<&Pair>) {
    with_state(|state| state.add(violation, pair));
}

/// Something in the program can't be watched: said once per text.
#[cold]
pub fn unsupported(what: &str) {
    with_state(|state| {
        if !state.notes.iter().any(|note| note == what) {
            state.notes.push(what.to_owned());
            output::say(&format!("seqcst: note: {what}\n"));
        }
    });
}

/// The access is in the locks, channels or threads of Rust's standard library, as far as they are inlined.
pub fn is_std_lock(site: Site) -> bool {
    with_state(|state| frames::is_std_lock(&state.symbols().stack(site))).unwrap_or(false)
}

/// Prints the totals and writes JSON. True if the exit code has to tell that errors were reported. May be called several times, at exit and in a
/// crash; says nothing twice.
pub fn finish() -> bool {
    with_state(State::finish).unwrap_or_else(|| {
        output::warn("ended in the middle of a report");
        options::get().exitcode != 0
    })
}

/// In the child of a fork: what was found so far is for the parent to tell.
pub fn fork_child() {
    OWNER.store(0, Ordering::Relaxed);
    output::fork_child();
    seen::clear();
    if let Some(mut guard) = STATE.try_lock() {
        let (state, _) = &mut *guard;
        state.reports.clear();
        state.by_position.clear();
        state.told = None;
        return;
    }
    // A thread that isn't there any more was in the middle of a report: what it left behind can't be trusted.
    STATE.reset();
    core::mem::forget(core::mem::replace(&mut *STATE.lock(), (State::new(), Room::new())));
}

struct Violation<'a> {
    kind: Kind,
    access: &'a Access,
    other: Option<&'a Access>,
    older: Option<&'a Access>,
    freed: bool,
    chain: Vec<Link>,
}

impl State {
    const fn new() -> Self {
        State {
            reports: Vec::new(),
            by_position: BTreeMap::new(),
            symbols: None,
            rules: None,
            printed: 0,
            notes: Vec::new(),
            told: None,
        }
    }

    fn symbols(&mut self) -> &mut Symbols {
        self.symbols.get_or_insert_default()
    }

    fn rules(&mut self) -> &mut Vec<Rule> {
        self.rules.get_or_insert_with(|| read_rules(&options::get().suppressions))
    }

    fn shown(&mut self, access: &Access) -> Shown {
        let symbols = self.symbols();
        Shown { access: *access, stack: symbols.stack(access.site), variable: symbols.variable(access.addr) }
    }

    fn add(&mut self, violation: &Violation<'_>, pair: Option<&Pair>) {
        let options = options::get();
        let access = self.shown(violation.access);
        let other = violation.other.map(|other| self.shown(other));
        let position = |shown: &Shown| {
            shown.headline().map(|frame| {
                let (file, line, column) = frame.key();
                (file.to_owned(), line, column)
            })
        };
        let key = (violation.kind, [position(&access), other.as_ref().and_then(position)]);
        let index = match self.by_position.get(&key) {
            Some(&index) => index,
            None => {
                let older = violation.older.map(|older| self.shown(older));
                let fate = self.fate(violation.kind, &access, other.as_ref(), options);
                let (kind, freed) = (violation.kind, violation.freed);
                let chain = violation.chain.iter().map(|link| self.step(link)).collect();
                let repair = String::new();
                let mut report = Report { kind, fate, count: 0, access, other, older, freed, chain, repair };
                report.repair = words::repair(&report, &repair::repair(&violation.chain));
                self.print(&report, options);
                let index = self.reports.len();
                self.reports.push(report);
                self.by_position.insert(key, index);
                index
            }
        };
        match pair {
            Some(pair) => pair.belongs_to(index),
            None => self.reports[index].count += 1,
        }
        if options.halt_on_error && self.reports[index].fate == Fate::Error {
            self.finish();
            sys::exit(options.exitcode);
        }
    }

    fn step(&mut self, link: &Link) -> Step {
        let symbols = self.symbols();
        let frame = frames::headline(&symbols.stack(link.site)).cloned();
        Step { link: *link, frame, variable: symbols.variable(link.addr) }
    }

    fn fate(&mut self, kind: Kind, access: &Shown, other: Option<&Shown>, options: &Options) -> Fate {
        let all = || access.stack.iter().chain(other.iter().flat_map(|other| &other.stack));
        if let Some(rule) = suppress::find(self.rules(), kind, all()) {
            return Fate::Suppressed(rule);
        }
        match kind {
            Kind::Stale if frames::is_std_lock(&access.stack) => Fate::StdLock,
            Kind::Wait if options.waits == Waits::Count => Fate::Counted,
            _ => Fate::Error,
        }
    }

    fn print(&mut self, report: &Report, options: &Options) {
        if report.fate != Fate::Error {
            return;
        }
        self.printed += 1;
        if self.printed <= options.max_reports {
            output::say(&text::render(report, &style(options)));
        } else if self.printed == options.max_reports + 1 {
            let most = options.max_reports;
            output::say(&format!(
                "seqcst: more than {most} distinct reports: the rest is counted (max_reports)\n"
            ));
        }
    }

    fn occurrences(&self) -> Vec<u64> {
        let mut occurrences: Vec<u64> = self.reports.iter().map(|report| report.count).collect();
        for (report, count) in seen::counts() {
            if let Some(sum) = occurrences.get_mut(report) {
                *sum += count;
            }
        }
        occurrences
    }

    fn finish(&mut self) -> bool {
        let options = options::get();
        let occurrences = self.occurrences();
        let mut rules = core::mem::take(self.rules());
        let counts = Counts::of(&self.reports, &occurrences, &mut rules);
        let errors = counts.errors() > 0;
        if self.told != Some(counts) {
            self.told = Some(counts);
            let mut out = String::new();
            if errors || options.verbosity > 0 {
                out.push_str(&counts.line());
            }
            out.push_str(&counts::suppressions(&rules));
            if options.verbosity > 0 {
                out.push_str(&cost());
            }
            if !out.is_empty() {
                output::say(&out);
            }
            if !options.json.is_empty() {
                self.write_json(options, &occurrences, &counts, &rules);
            }
        }
        self.rules = Some(rules);
        errors && options.exitcode != 0
    }

    fn write_json(&self, options: &Options, occurrences: &[u64], counts: &Counts, rules: &[Rule]) {
        let program = program();
        let model = if options.model == Model::Ra { "ra" } else { "rc20" };
        let process = json::Process {
            pid: sys::getpid(),
            program: &program,
            model,
            reports: &self.reports,
            occurrences,
            counts,
            rules,
            notes: &self.notes,
        };
        output::replace_file(&output::per_process(&options.json), &json::render(&process));
    }
}

fn style(options: &Options) -> Style {
    let directory = sys::readlink(c"/proc/self/cwd").unwrap_or_default();
    Style {
        pid: sys::getpid(),
        directory: String::from_utf8_lossy(&directory).into_owned(),
        verbose: options.verbosity > 0,
        model: if options.model == Model::Ra { "RA" } else { "RC20" },
    }
}

fn program() -> String {
    String::from_utf8_lossy(&sys::readlink(c"/proc/self/exe").unwrap_or_default()).into_owned()
}

/// What the run cost.
fn cost() -> String {
    let (contexts, sites) = crate::context::counts();
    let kib = crate::arena::mapped() / 1024;
    format!("seqcst: {contexts} call paths, {sites} sites, {kib} KiB in the arena\n")
}

/// The rules of a file. A file that can't be used ends the program: it would report what nobody wants.
fn read_rules(path: &str) -> Vec<Rule> {
    if path.is_empty() {
        return Vec::new();
    }
    let contents = CString::new(path).map_err(|_| 22).and_then(|path| sys::read_file(&path));
    let rules = match contents {
        Ok(contents) => suppress::parse(path, &String::from_utf8_lossy(&contents)),
        Err(_) => Err(format!("{path}: can't read the suppressions")),
    };
    rules.unwrap_or_else(|mistake| {
        output::warn(&mistake);
        sys::exit(2)
    })
}

/// Reads what options name, so that mistakes are told before the program starts.
pub fn start() {
    with_state(|state| state.rules().len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context;
    use crate::journal::Edge;
    use seqcst_model::Mode;

    fn access(thread: u32, what: What, pc: usize) -> Access {
        Access {
            thread,
            what,
            mode: Some(Mode::Relaxed),
            addr: 0x1000,
            size: 4,
            site: context::bare_site(pc),
        }
    }

    /// Benign waits are counted and not printed, so they can be added here.
    #[test]
    fn one_report_per_pair_of_positions() {
        let mut state = State::new();
        let link = Link {
            edge: Edge::Start,
            thread: 9,
            what: What::Store,
            mode: Mode::Release,
            addr: 0x1000,
            size: 4,
            site: context::bare_site(0x31),
            released: true,
            acquired: false,
            fenced: false,
        };
        for (load, store) in [(0x21, 0x31), (0x21, 0x31), (0x21, 0x41), (0x21, 0x31)] {
            let (load, store) = (access(1, What::Load, load), access(2, What::Store, store));
            let chain = vec![link];
            let (kind, access, other, older) = (Kind::Wait, &load, Some(&store), None);
            state.add(&Violation { kind, access, other, older, freed: false, chain }, None);
        }
        let counts: Vec<_> = state.reports.iter().map(|report| report.count).collect();
        assert_eq!(counts, [3, 1]);
        assert_eq!(state.reports[0].fate, Fate::Counted);
        assert_eq!(state.reports[0].access.place(), "0x20");
        assert_eq!(state.reports[0].chain.len(), 1);
        assert!(!state.finish());
    }
}

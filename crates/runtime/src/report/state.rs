//! The reports there are: what was found becomes one of them or is counted with one, and gets its names and its fate.

use super::counts::{self, Counts};
use super::found::{Access, Fate, Kind, Report, Shown, Step, Swap};
use super::frames::{self, Frame};
use super::seen::{self, Pair};
use super::symbols::Symbols;
use super::text::{self, Style};
use super::{json, output, repair, words};
use crate::control::settings;
use crate::journal::Link;
use crate::options::{self, Options, Waits};
use crate::suppress::{self, Rule};
use crate::sys;
use seqcst_model::Model;
use std::collections::BTreeMap;
use std::ffi::CString;

/// Everything that was found so far, and what keeps some of it back.
pub struct State {
    reports: Vec<Report>,
    by_position: BTreeMap<Key, usize>,
    symbols: Option<Symbols>,
    rules: Option<Vec<Rule>>,
    printed: usize,
    /// What can't be watched.
    pub notes: Vec<String>,
    /// What the last summary said.
    told: Option<Counts>,
}

/// Kind, and for both accesses the source positions of their distinctive frames.
type Key = (Kind, [Vec<Position>; 2]);
type Position = (String, u64, u32);

/// What a monitor found.
pub struct Violation<'a> {
    pub kind: Kind,
    pub access: &'a Access,
    pub other: Option<&'a Access>,
    pub older: Option<&'a Access>,
    pub swap: Option<Swap>,
    pub freed: bool,
    pub chain: Vec<Link>,
}

impl State {
    /// Nothing found yet.
    pub const fn new() -> Self {
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

    /// Forgets all reports.
    pub fn clear(&mut self) {
        self.reports.clear();
        self.by_position.clear();
        self.told = None;
    }

    /// Who knows names.
    pub fn symbols(&mut self) -> &mut Symbols {
        self.symbols.get_or_insert_default()
    }

    /// The suppressions; read when first needed.
    pub fn rules(&mut self) -> &mut Vec<Rule> {
        self.rules.get_or_insert_with(|| read_rules(&options::get().suppressions))
    }

    fn shown(&mut self, access: &Access) -> Shown {
        let symbols = self.symbols();
        Shown { access: *access, stack: symbols.stack(access.site), variable: symbols.variable(access.addr) }
    }

    /// Makes a report of it, or counts it with the one there is; `pair` counts it from now on.
    pub fn add(&mut self, violation: &Violation<'_>, pair: Option<&Pair>) {
        let options = options::get();
        let access = self.shown(violation.access);
        let other = violation.other.map(|other| self.shown(other));
        let positions = |shown: &Shown| -> Vec<Position> {
            let own = |frame: &Frame| {
                let (file, line, column) = frame.key();
                (file.to_owned(), line, column)
            };
            frames::distinctive(&shown.stack).iter().map(own).collect()
        };
        let key = (violation.kind, [positions(&access), other.as_ref().map(positions).unwrap_or_default()]);
        let index = match self.by_position.get(&key) {
            Some(&index) => index,
            None => {
                let older = violation.older.map(|older| self.shown(older));
                let fate = self.fate(violation.kind, &access, other.as_ref(), options);
                let (kind, freed, swap) = (violation.kind, violation.freed, violation.swap.clone());
                let chain = violation.chain.iter().map(|link| self.step(link)).collect();
                let repair = String::new();
                let mut report =
                    Report { kind, fate, count: 0, access, other, older, swap, freed, chain, repair };
                let advice = match model(options) {
                    Model::Tso => repair::under_tso(&violation.chain),
                    model => repair::repair(&violation.chain, violation.access.mode, model),
                };
                report.repair = words::repair(&report, &advice);
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

    /// Would it be reported as an error?
    pub fn counts_as_error(&mut self, kind: Kind, access: &Access, other: Option<&Access>) -> bool {
        let access = self.shown(access);
        let other = other.map(|other| self.shown(other));
        self.fate(kind, &access, other.as_ref(), options::get()) == Fate::Error
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

    /// The summary, if it isn't the same as the last one. True if the exit code has to tell of errors.
    pub fn finish(&mut self) -> bool {
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
        let model = model(options);
        let process = json::Process {
            pid: sys::getpid(),
            program: &program,
            model: model.name(),
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
        model: model(options).title(),
    }
}

/// The memory model: `seqcst explore` may want another one than the options say.
fn model(options: &Options) -> Model {
    match settings::get() {
        settings if settings.has_model() => settings.model(),
        _ => options.model,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context;
    use crate::journal::{Edge, EventKind};
    use seqcst_model::Mode;

    fn access(thread: u32, what: EventKind, pc: usize) -> Access {
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
            what: EventKind::Store,
            mode: Mode::Release,
            addr: 0x1000,
            size: 4,
            site: context::bare_site(0x31),
            released: true,
            acquired: false,
            fenced: false,
            flushed: false,
        };
        for (load, store) in [(0x21, 0x31), (0x21, 0x31), (0x21, 0x41), (0x21, 0x31)] {
            let (load, store) = (access(1, EventKind::Load, load), access(2, EventKind::Store, store));
            let chain = vec![link];
            let (kind, access, other, older) = (Kind::Wait, &load, Some(&store), None);
            state.add(&Violation { kind, access, other, older, swap: None, freed: false, chain }, None);
        }
        let counts: Vec<_> = state.reports.iter().map(|report| report.count).collect();
        assert_eq!(counts, [3, 1]);
        assert_eq!(state.reports[0].fate, Fate::Counted);
        assert_eq!(state.reports[0].access.place(), "0x20");
        assert_eq!(state.reports[0].chain.len(), 1);
        assert!(!state.finish());
    }
}

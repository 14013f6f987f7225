//! A program and two machines to an answer.

use super::input::{self, Program};
use crate::Status;
use crate::flags::PortFlags;
use seqcst_port::count;
use seqcst_port::ir::code::{Code, FunctionId};
use seqcst_port::ir::inline::{Note, Why};
use seqcst_port::ir::lower::{Options, Ported, lower};
use seqcst_port::ir::patch::{self, Edit};
use seqcst_port::ir::source;
use seqcst_port::ir::threads::{self, How, Thread};
use seqcst_port::machine::Machine;
use seqcst_port::mapping::Features;
use seqcst_port::place::{Costs, Placement, place};
use seqcst_port::program::{Kind, Order, Place, What};
use seqcst_port::robust::{Question, Site};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A program, read and made ready.
pub struct Loaded {
    /// What the user calls it.
    pub name: String,
    /// The machine it was compiled for, if it was compiled.
    pub machine: Machine,
    /// Its files.
    pub code: Code,
    /// Its threads.
    pub ported: Ported,
    /// How long that took.
    pub took: Duration,
    /// Whether it was compiled for this machine, as the other one's headers are not there.
    pub for_host: bool,
    /// Whether only atomic accesses are looked at.
    pub atomics_only: bool,
}

/// What was found about a program and two machines.
pub struct Answer {
    /// The machine that the program comes from.
    pub from: Machine,
    /// The machine that it goes to.
    pub to: Machine,
    /// Pairs at fault, and what to do about them.
    pub placement: Placement,
    /// The same as places in the text.
    pub edits: Vec<Edit>,
    /// What a naive scheme would put in.
    pub naive: usize,
    /// What is there.
    pub existing: usize,
    /// How long it took, reading included.
    pub took: Duration,
    /// Why nothing was decided, if so.
    pub gave_up: Option<String>,
}

impl Loaded {
    /// Reads a program and finds its threads.
    pub fn new(program: &Program, machine: Machine, flags: &PortFlags) -> Result<Loaded, String> {
        let (files, for_host) = input::load(program, machine, flags)?;
        let started = Instant::now();
        let code = Code::new(files);
        let threads = find(&code, flags).map_err(|message| {
            // A file has a place, a directory has none.
            let place = if program.parts.len() == 1 { ":1:1" } else { "" };
            format!("{}{place}: error: {message}\n", program.name)
        })?;
        let options = Options { atomics_only: flags.atomics_only, client: flags.client };
        let ported = lower(&code, &threads, options);
        let took = started.elapsed();
        let (name, atomics_only) = (program.name.clone(), flags.atomics_only);
        Ok(Loaded { name, machine, code, ported, took, for_host, atomics_only })
    }

    /// Is it safe to move from one machine to the other?
    pub fn ask(&self, from: Machine, to: Machine) -> Answer {
        let started = Instant::now();
        let program = &self.ported.program;
        let question = Question::new(from, to);
        let placement = place(program, &self.ported.classes, question, &Costs::default());
        let edits = patch::edits(&self.code, &self.ported, &placement.changes);
        let lost = from == Machine::ArmV8 && !self.ported.all_dependencies;
        Answer {
            from,
            to,
            gave_up: lost.then(|| "a thread is too large for its dependencies to be worked out".to_owned()),
            edits: edits.unwrap_or_default(),
            naive: count::naive(program),
            existing: count::existing(program, to, Features::default()),
            took: self.took + started.elapsed(),
            placement,
        }
    }

    /// An access in words: what it does, where to, where it stands.
    pub fn access(&self, site: Site) -> Described {
        let node = self.ported.program.functions.get(site.function).and_then(|f| f.nodes.get(site.node));
        let location = |number: usize| {
            self.ported.program.locations.get(number).map_or("anything", |location| &location.name).to_owned()
        };
        let (what, location) = match node.map(|node| &node.what) {
            Some(What::Access(access)) => {
                let kind = match access.kind {
                    Kind::Load => "load",
                    Kind::Store => "store",
                    Kind::Rmw => "read-modify-write",
                    Kind::Cas => "compare-and-swap",
                };
                (format!("{} {kind}", order(access.order)), location(access.location))
            }
            Some(What::Opaque { name, location: number }) => (format!("call of {name}"), location(*number)),
            _ => ("access".to_owned(), "anything".to_owned()),
        };
        let function =
            self.ported.program.functions.get(site.function).map(|f| f.name.clone()).unwrap_or_default();
        let place = node.and_then(|node| node.place.clone());
        Described { what, location, place, function, write: site.write }
    }

    /// Where a change goes.
    pub fn place(&self, edit: Edit) -> Option<Place> {
        source::place(&self.code, edit.site())
    }

    /// What was treated conservatively, in words, each once, with how often and where first.
    pub fn notes(&self) -> Vec<(String, usize, Option<Place>)> {
        let mut out: BTreeMap<String, (usize, Option<Place>)> = BTreeMap::new();
        for note in &self.ported.notes {
            let entry = out.entry(words(note)).or_default();
            entry.0 += 1;
            if entry.1.is_none() {
                entry.1 = source::place(&self.code, note.site);
            }
        }
        out.into_iter().map(|(words, (times, place))| (words, times, place)).collect()
    }
}

impl Answer {
    /// Whether the program is safe to move.
    pub fn verdict(&self) -> &'static str {
        match (&self.gave_up, self.placement.before.is_robust()) {
            (Some(_), _) => "gave-up",
            (None, true) => "robust",
            (None, false) => "not-robust",
        }
    }

    /// The exit code.
    pub fn status(&self) -> Status {
        match self.verdict() {
            "robust" => Status::Holds,
            "gave-up" => Status::GaveUp,
            _ => Status::Violation,
        }
    }
}

/// An access in words.
pub struct Described {
    /// What it does.
    pub what: String,
    /// Where to.
    pub location: String,
    /// Where it stands.
    pub place: Option<Place>,
    /// The thread function.
    pub function: String,
    /// Whether it is its write that counts.
    pub write: bool,
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Plain => "plain",
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

fn words(note: &Note) -> String {
    let name = &note.name;
    match note.why {
        Why::External => {
            format!("`{name}` is not in these files: it may access everything that threads share")
        }
        Why::Indirect => "a call through a pointer: it may access everything that threads share".to_owned(),
        Why::Assembly => {
            "inline assembly that may access memory: it may access everything that threads share".to_owned()
        }
        Why::Recursion => {
            format!("`{name}` calls itself: the inner call may access everything that threads share")
        }
        Why::Size => {
            format!("the thread is too large to follow `{name}`: it may access everything that threads share")
        }
        Why::Instruction => {
            format!("the instruction `{name}` is not known: it may access everything that threads share")
        }
    }
}

/// The threads of a program.
fn find(code: &Code, flags: &PortFlags) -> Result<Vec<Thread>, String> {
    let named = |function: FunctionId| Thread { function, how: How::Named, starts: None };
    if !flags.threads.is_empty() {
        let mut out = Vec::new();
        for name in &flags.threads {
            let found = threads::named(code, name);
            if found.is_empty() {
                return Err(format!("there is no function `{name}` in it"));
            }
            out.extend(found.into_iter().map(named));
        }
        return Ok(out);
    }
    if flags.client {
        let open =
            |id: &FunctionId| code.function(*id).is_some_and(|f| !f.internal) && code.name(*id) != "main";
        let all: Vec<Thread> = code.functions().filter(open).map(named).collect();
        return match all.is_empty() {
            true => {
                Err("there is no function in it that other files can call; name some with --threads"
                    .to_owned())
            }
            false => Ok(all),
        };
    }
    let found = threads::find(code);
    match found.is_empty() {
        true => Err(
            "no thread function was found in it; name some with --threads f,g, or use --client for a library"
                .to_owned(),
        ),
        false => Ok(found),
    }
}

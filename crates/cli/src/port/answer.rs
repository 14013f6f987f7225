//! A program and two machines to an answer.

use super::input::{self, Program};
use crate::Status;
use crate::flags::PortFlags;
use seqcst_port::change::Change;
use seqcst_port::count;
use seqcst_port::ir::code::{Code, File, FunctionId};
use seqcst_port::ir::inline::{Note, Site, Why};
use seqcst_port::ir::lower::{Options, Ported, Taken, lower};
use seqcst_port::ir::module::Op;
use seqcst_port::ir::patch::{self, Edit};
use seqcst_port::ir::source;
use seqcst_port::ir::threads::{self, How, Thread};
use seqcst_port::limit::{Deadline, OutOfTime};
use seqcst_port::machine::Machine;
use seqcst_port::mapping::Features;
use seqcst_port::place::{Costs, Placement, place_where};
use seqcst_port::program::{Kind, Order, Place, What};
use seqcst_port::robust::{self, Question};
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
    /// If there was not enough time for that: nothing is known of its threads.
    pub out_of_time: Option<OutOfTime>,
    /// Whether it was compiled for this machine, as the other one's headers are not there.
    for_host: bool,
    /// Whether the files may have `ldapr`.
    rcpc: bool,
    /// What the user says.
    said: Said,
}

/// What the user says about the program and the machines.
#[derive(Clone, Copy)]
struct Said {
    atomics_only: bool,
    client: bool,
    rcpc: bool,
    trust_dependencies: bool,
    time_limit: Duration,
}

/// What was found about a program and two machines.
pub struct Answer {
    /// The machine that the program comes from.
    pub from: Machine,
    /// The machine that it goes to.
    pub to: Machine,
    /// What the targets have.
    pub features: Features,
    /// What was taken for granted.
    pub assumptions: Vec<Assumption>,
    /// Pairs at fault, and what to do about them; nothing is in it if time was out.
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

/// Something that an answer takes for granted.
pub struct Assumption {
    /// What programs call it.
    pub name: &'static str,
    /// The same in words.
    pub words: &'static str,
}

impl Loaded {
    /// Reads a program and finds its threads.
    pub fn new(program: &Program, machine: Machine, flags: &PortFlags) -> Result<Loaded, String> {
        let read = input::load(program, machine, flags)?;
        let started = Instant::now();
        let code = Code::new(read.files);
        let threads = find(&code, flags).map_err(|message| {
            // A file has a place, a directory has none.
            let place = if program.parts.len() == 1 { ":1:1" } else { "" };
            format!("{}{place}: error: {message}\n", program.name)
        })?;
        let PortFlags { atomics_only, client, rcpc, trust_dependencies, time_limit, .. } = *flags;
        let options = Options { atomics_only, client, deadline: Deadline::after(time_limit) };
        let (ported, out_of_time) = match lower(&code, &threads, options) {
            Ok(ported) => (ported, None),
            Err(out) => (Ported::default(), Some(out)),
        };
        let took = started.elapsed();
        let said = Said { atomics_only, client, rcpc, trust_dependencies, time_limit };
        let (name, for_host) = (program.name.clone(), read.for_host);
        Ok(Loaded { name, machine, code, ported, took, out_of_time, for_host, rcpc: read.rcpc, said })
    }

    /// Is it safe to move from one machine to the other?
    pub fn ask(&self, from: Machine, to: Machine) -> Answer {
        self.ask_with(from, to, &|_| true)
    }

    /// The same, with changes that are allowed.
    pub fn ask_with(&self, from: Machine, to: Machine, allowed: &dyn Fn(Edit) -> bool) -> Answer {
        let started = Instant::now();
        let program = &self.ported.program;
        // The files are for the machine that the program goes to. Nobody knows what it was compiled for on the other one.
        let rcpc = self.said.rcpc || (self.rcpc && to == Machine::ArmV8);
        let features = Features { rcpc };
        let Said { trust_dependencies, time_limit, .. } = self.said;
        let deadline = Deadline::after(time_limit.saturating_sub(self.took));
        let question = Question { from, to, features, trust_dependencies, deadline };
        let placed = match self.out_of_time {
            Some(out) => Err(out),
            None => {
                let edit = |change: Change| patch::edits(&self.code, &self.ported, &[change]);
                let allowed =
                    |change: Change| edit(change).is_some_and(|edits| edits.into_iter().all(allowed));
                place_where(program, &self.ported.classes, question, &Costs::default(), &allowed)
            }
        };
        let late = placed.as_ref().err().map(|out| format!("{}, {}", self.limit(), out.doing));
        let placement = placed.unwrap_or_default();
        let edits = patch::edits(&self.code, &self.ported, &placement.changes);
        let lost = from == Machine::ArmV8 && !self.ported.all_dependencies;
        Answer {
            from,
            to,
            features,
            gave_up: late.or(lost
                .then(|| "at a thread that is too large for its dependencies to be worked out".to_owned())),
            edits: edits.unwrap_or_default(),
            naive: count::naive(program),
            existing: count::existing(program, to, features),
            assumptions: self.assumptions(question),
            took: self.took + started.elapsed(),
            placement,
        }
    }

    /// The files that were compiled for another machine than this one, with these.
    pub fn for_others(&self, machine: Machine) -> impl Iterator<Item = (&File, Machine)> {
        let known = |file: &'_ File| input::machine(&file.module.triple);
        let files = self.code.files.iter().filter_map(move |file| Some((file, known(file)?)));
        files.filter(move |&(_, other)| other != machine)
    }

    /// The time limit in words.
    pub fn limit(&self) -> String {
        format!("at the time limit of {} s", self.said.time_limit.as_secs_f64())
    }

    /// What an answer takes for granted.
    fn assumptions(&self, question: Question) -> Vec<Assumption> {
        let Said { atomics_only, client, rcpc, trust_dependencies, .. } = self.said;
        let Question { from, to, features, .. } = question;
        let armv8 = features.rcpc && (from == Machine::ArmV8 || to == Machine::ArmV8);
        let cut = self.ported.notes.iter().any(|note| note.why == Why::Recursion);
        let Taken { calls, allocators, streams, types } = self.ported.taken;
        let past_caches = self.code.files.iter().any(|file| file.module.nontemporal);
        let all = [
            (atomics_only, "no-data-race", "no data race: only atomic accesses are looked at"),
            (
                client,
                "one-object",
                "any thread calls the functions in any order, all on one object: each gets the same arguments in every call",
            ),
            (
                trust_dependencies && to == Machine::ArmV8,
                "dependencies-kept",
                "the compiler keeps dependencies: they order accesses on armv8",
            ),
            (armv8 && rcpc, "rcpc", "acquire loads on armv8 are ldapr"),
            (
                armv8 && !rcpc,
                "rcpc",
                "acquire loads on armv8 are ldapr: the code is for a processor that may have it",
            ),
            (
                self.for_host,
                "compiled-for-host",
                "the code is what it is on this machine: there are no headers for the other one",
            ),
            (
                self.ported.one_caller,
                "one-caller",
                "one thread calls the functions that others can call, one call after the other (--client: any thread)",
            ),
            (
                !self.for_host && self.for_others(to).next().is_some(),
                "compiled-for-another",
                "the code is what it is on the machine that it was compiled for, which is not the one that it goes to",
            ),
            (
                cut,
                "recursion-cut",
                "where a function calls itself, the inner call accesses everything that threads share, in no order",
            ),
            (
                calls,
                "calls-ported",
                "what an unknown call does inside is ordered there as its author wants it: only what is around it is looked at",
            ),
            (types, "types", "a variable of type `struct s *` holds the address of an `s`"),
            (
                allocators,
                "allocators",
                "allocators look after themselves, and give memory out again only once they have had it back",
            ),
            (streams, "streams", "`FILE` streams look after themselves"),
            (
                past_caches && to == Machine::X86,
                "past-caches",
                "an sfence stands behind stores that go past the caches, where their order matters",
            ),
        ];
        let in_force = all.into_iter().filter(|(yes, ..)| *yes);
        in_force.map(|(_, name, words)| Assumption { name, words }).collect()
    }

    /// An access in words: what it does, where to, where it stands.
    pub fn access(&self, site: robust::Site) -> Described {
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

    /// Whether a change is about a read-modify-write.
    pub fn swaps(&self, edit: Edit) -> bool {
        let Site::Before { function, block, index } = edit.site() else { return false };
        let block = self.code.function(function).and_then(|f| f.blocks.get(block as usize));
        let instruction = block.and_then(|block| block.body.get(index as usize));
        instruction.is_some_and(|i| matches!(i.op, Op::Rmw { .. } | Op::CompareExchange { .. }))
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
    /// Whether time was out before anything was decided.
    pub fn is_late(&self) -> bool {
        self.gave_up.is_some() && !self.placement.in_time
    }

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
    if let Some(&site) = threads::unknown(code).first() {
        let place = source::place(code, site);
        let place = place.map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
        return Err(format!(
            "a thread is started with a function that is not known here{place}; name all thread functions with --threads f,g"
        ));
    }
    let found = threads::find(code);
    if flags.client {
        let open =
            |id: &FunctionId| code.function(*id).is_some_and(|f| !f.internal) && code.name(*id) != "main";
        let mut all: Vec<Thread> = code.functions().filter(open).map(named).collect();
        return match all.is_empty() {
            true => {
                Err("there is no function in it that other files can call; name some with --threads"
                    .to_owned())
            }
            false => {
                // They run at any time, too.
                all.extend(found.into_iter().filter(|thread| !open(&thread.function)));
                Ok(all)
            }
        };
    }
    match found.is_empty() {
        true => Err(
            "no thread function was found in it; name some with --threads f,g, or use --client for a library"
                .to_owned(),
        ),
        false => Ok(found),
    }
}

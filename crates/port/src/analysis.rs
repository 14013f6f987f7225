//! Files of LLVM IR and two machines to an answer: all of `seqcst port` but reading, compiling and printing.

use crate::assumptions::{Assumption, assumptions};
use crate::change::Change;
use crate::count;
use crate::ir::code::{Code, File};
use crate::ir::inline::{Note, Reason};
use crate::ir::lower::{Options, Ported, lower};
use crate::ir::patch::{self, Edit};
use crate::ir::source;
use crate::ir::threads;
use crate::limit::{Deadline, OutOfTime};
use crate::machine::Machine;
use crate::mapping::Features;
use crate::place::{Costs, Placement, place_where};
use crate::robust::Question;
use seqcst_report::{Place, Verdict};
use std::time::{Duration, Instant};

/// What the user says about a program and the machines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UserOptions {
    /// The functions that threads run; none: they are looked for.
    pub threads: Vec<String>,
    /// Plain accesses are left out: the program is taken to have no data race.
    pub atomics_only: bool,
    /// The functions are called in any order by any thread, all on one object.
    pub client: bool,
    /// Acquire loads on ARMv8 are `ldapr`.
    pub rcpc: bool,
    /// Dependencies order accesses on ARMv8.
    pub trust_dependencies: bool,
    /// For each pair of machines, the analysis of the program included.
    pub time_limit: Duration,
}

/// A program whose threads are known, ready for questions.
#[derive(Debug)]
pub struct Analysis {
    /// Its files.
    pub code: Code,
    /// Its threads.
    pub ported: Ported,
    /// If there was not enough time for that: nothing is known of its threads.
    pub out_of_time: Option<OutOfTime>,
    /// What there is to say about how it was compiled.
    pub compilation: Compilation,
    /// What the user says.
    pub options: UserOptions,
    took: Duration,
}

/// How files were compiled, where that was not the user's business.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Compilation {
    /// Files that were compiled for the host instead of the target machine, and why.
    pub for_host: Vec<(String, String)>,
    /// Inline assembly that the target machine hasn't.
    pub refused: Vec<Refused>,
    /// How much of the time limit was over when all was read.
    pub spent: Duration,
}

/// Inline assembly that is not for the target machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Where it stands in the source.
    pub place: Place,
    /// What the assembler says.
    pub why: String,
}

/// What was found about a program and two machines.
#[derive(Debug)]
pub struct Found {
    /// The source machine.
    pub from: Machine,
    /// The target machine.
    pub to: Machine,
    /// What the targets have.
    pub features: Features,
    /// What was taken for granted.
    pub assumptions: Vec<Assumption>,
    /// Pairs at fault, and what to do about them; nothing is in it if time was out.
    pub placement: Placement,
    /// The same as places in the text.
    pub edits: Vec<Edit>,
    /// The fences that a naive scheme would put in.
    pub naive: usize,
    /// The fences that are there.
    pub existing: usize,
    /// How long it took, the analysis of the program included.
    pub took: Duration,
    /// Why nothing was decided, if so.
    pub gave_up: Option<String>,
}

impl Analysis {
    /// Finds the threads of a program and follows them. A message if there are none.
    pub fn new(files: Vec<File>, compilation: Compilation, options: UserOptions) -> Result<Analysis, String> {
        let started = Instant::now();
        let code = Code::new(files);
        let threads = threads::select(&code, &options.threads, options.client)?;
        let UserOptions { atomics_only, client, time_limit, .. } = options;
        let left = time_limit.saturating_sub(compilation.spent + started.elapsed());
        let lowering = Options { atomics_only, client, deadline: Deadline::after(left) };
        let (ported, out_of_time) = match lower(&code, &threads, lowering) {
            Ok(ported) => (ported, None),
            Err(out) => (Ported::default(), Some(out)),
        };
        if let Some(note) = ported.elsewhere.first() {
            return Err(elsewhere(&code, note, atomics_only));
        }
        let took = compilation.spent + started.elapsed();
        Ok(Analysis { code, ported, out_of_time, compilation, options, took })
    }

    /// A program for which there was not even time to compile and read it.
    pub fn unread(options: UserOptions, spent: Duration) -> Analysis {
        Analysis {
            code: Code::new(Vec::new()),
            ported: Ported::default(),
            out_of_time: Some(OutOfTime { doing: "compiling and reading the program" }),
            compilation: Compilation { spent, ..Compilation::default() },
            options,
            took: spent,
        }
    }

    /// Is it safe to move from one machine to the other, and which of the allowed changes make it so? Besides making the analysis,
    /// so much of the time was `spent` on the question before.
    pub fn ask(&self, from: Machine, to: Machine, spent: Duration, allowed: &dyn Fn(Edit) -> bool) -> Found {
        let started = Instant::now();
        let UserOptions { rcpc, trust_dependencies, time_limit, .. } = self.options;
        // The files are for the target machine. What it was compiled for on the source machine is unknown.
        let rcpc = rcpc || (to == Machine::ArmV8 && self.code.files.iter().any(File::has_rcpc));
        let features = Features { rcpc };
        let deadline = Deadline::after(time_limit.saturating_sub(self.took + spent));
        let question = Question { from, to, features, trust_dependencies, deadline };
        let program = &self.ported.program;
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
        let lost = from == Machine::ArmV8 && !self.ported.all_dependencies;
        let lost =
            lost.then(|| "at a thread that is too large for its dependencies to be worked out".to_owned());
        let placement = placed.unwrap_or_default();
        Found {
            from,
            to,
            features,
            assumptions: assumptions(self, question),
            edits: patch::edits(&self.code, &self.ported, &placement.changes).unwrap_or_default(),
            naive: count::naive(program),
            existing: count::existing(program, to, features),
            took: self.took + spent + started.elapsed(),
            gave_up: late.or(lost),
            placement,
        }
    }

    /// The files that were compiled for another machine than this one, with these.
    pub fn for_others(&self, machine: Machine) -> impl Iterator<Item = (&File, Machine)> {
        let files = self.code.files.iter().filter_map(|file| Some((file, file.machine()?)));
        files.filter(move |&(_, other)| other != machine)
    }

    /// How much of the time limit was over when it was made.
    pub fn took(&self) -> Duration {
        self.took
    }

    /// The time limit in words.
    pub fn limit(&self) -> String {
        format!("at the time limit of {} s", self.options.time_limit.as_secs_f64())
    }
}

impl Found {
    /// Whether time was out before anything was decided.
    pub fn is_late(&self) -> bool {
        self.gave_up.is_some() && !self.placement.in_time
    }

    /// Whether the program is safe to move.
    pub fn verdict(&self) -> Verdict {
        match (&self.gave_up, self.placement.before.is_robust()) {
            (Some(_), _) => Verdict::GaveUp,
            (None, true) => Verdict::Robust,
            (None, false) => Verdict::NotRobust,
        }
    }
}

/// What to say where threads do all their work in other files.
fn elsewhere(code: &Code, note: &Note, atomics_only: bool) -> String {
    let place = source::place(code, note.site);
    let place = place.map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
    let (whom, what) = match note.reason {
        Reason::Indirect => ("a pointer to a function".to_owned(), ""),
        _ => (format!("`{}`", note.name), ", which is not in these files"),
    };
    let nothing = if atomics_only { "nothing atomic" } else { "nothing" };
    format!(
        "threads do {nothing} here but call {whom}{what}{place}: there is nothing to look at; give the files with the functions that they call"
    )
}

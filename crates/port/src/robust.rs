//! Is a program M–K robust, and if not, which pairs of accesses are at fault?

use crate::change::Change;
use crate::critical::{self, Critical};
use crate::cycles::Cycles;
use crate::depends::Depends;
use crate::limit::{Deadline, OutOfTime};
use crate::lowered::Lowered;
use crate::machine::Machine;
use crate::mapping::Features;
use crate::pairs::{Pairs, Query};
use crate::program::{Aliases, Program};
use crate::tables::Tables;

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// The source machine.
    pub from: Machine,
    /// The target machine.
    pub to: Machine,
    /// What the targets have.
    pub features: Features,
    /// Whether dependencies order accesses on the target machine. A compiler may lose them.
    pub trust_dependencies: bool,
    /// Until when an answer is wanted.
    pub deadline: Deadline,
}

impl Question {
    /// The question for these machines, with nothing special.
    pub fn new(from: Machine, to: Machine) -> Question {
        let (features, deadline) = Default::default();
        Question { from, to, features, trust_dependencies: false, deadline }
    }
}

/// An access: a function and a node of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Site {
    /// Index into [`Program::functions`].
    pub function: usize,
    /// Index into [`Function::nodes`](crate::program::Function::nodes).
    pub node: usize,
    /// Whether it is its write that counts; otherwise its read.
    pub write: bool,
}

/// A pair of accesses that the one machine orders and the other doesn't, on a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The earlier access.
    pub first: Site,
    /// The later access.
    pub second: Site,
    /// A cycle that it is on: the accesses in order, from `second` to `first`; from there the pair closes it. If there are
    /// hundreds of faults, only the first have one.
    pub cycle: Vec<Site>,
    /// Their events.
    pub(crate) events: (usize, usize),
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// The pairs at fault; the program is robust if there is none.
    pub faults: Vec<Fault>,
    /// How many pairs were looked at.
    pub pairs: usize,
    /// Whether a limit was met while looking for cycles: more pairs may be listed than need be.
    pub cut_short: bool,
}

impl Answer {
    /// Whether everything that the program does on the one machine, it could do on the other.
    pub fn is_robust(&self) -> bool {
        self.faults.is_empty()
    }
}

/// A program made ready for questions about its pairs.
pub(crate) struct Prepared<'a> {
    pub lowered: Lowered,
    aliases: &'a Tables,
    depends: Depends,
    deadline: Deadline,
}

/// How many faults come with a cycle; for the rest, what is said of these will do.
pub const MOST_CYCLES: usize = 200;

impl<'a> Prepared<'a> {
    pub fn new(
        program: &Program,
        aliases: &'a Tables,
        question: Question,
        changes: &[Change],
    ) -> Result<Self, OutOfTime> {
        let deadline = question.deadline;
        let lowered = Lowered::new(program, (question.from, question.to), question.features, changes);
        let depends = Depends::new(program, &lowered, aliases, question.trust_dependencies, deadline)?;
        Ok(Prepared { lowered, aliases, depends, deadline })
    }

    pub fn query(&self) -> Query<'_> {
        let Prepared { lowered, aliases, depends, .. } = self;
        Query { lowered, aliases, depends }
    }

    /// Looks for pairs at fault.
    pub fn answer(&self) -> Result<Answer, OutOfTime> {
        let pairs = self.query().pairs(self.deadline)?;
        let cycles = Cycles::new(&self.lowered, self.aliases, &pairs, self.deadline)?;
        let mut answer =
            Answer { pairs: pairs.kept.iter().map(|bits| bits.iter().count()).sum(), ..Answer::default() };
        let search = critical::Search::new(&self.lowered, self.aliases, &pairs);
        for (first, second) in loose(&pairs) {
            if !cycles.contains(first, second) {
                continue;
            }
            self.deadline.check("looking for cycles")?;
            let few = answer.faults.len() < MOST_CYCLES;
            let cycle = match search.through(first, second) {
                Critical::None => continue,
                Critical::Cycle(events) if few => events,
                other => {
                    answer.cut_short |= matches!(other, Critical::GaveUp);
                    if few { cycles.through(first, second) } else { Vec::new() }
                }
            };
            answer.faults.push(Fault {
                first: self.site(first),
                second: self.site(second),
                cycle: cycle.into_iter().map(|event| self.site(event)).collect(),
                events: (first, second),
            });
        }
        Ok(answer)
    }

    fn site(&self, event: usize) -> Site {
        let event = &self.lowered.events[event];
        Site { function: event.thread, node: event.source, write: event.is_write() }
    }
}

fn loose(pairs: &Pairs) -> impl Iterator<Item = (usize, usize)> + '_ {
    pairs
        .loose
        .iter()
        .enumerate()
        .flat_map(|(first, seconds)| seconds.iter().map(move |second| (first, second)))
}

/// Looks at a program with these changes made.
pub fn check(
    program: &Program,
    aliases: &dyn Aliases,
    question: Question,
    changes: &[Change],
) -> Result<Answer, OutOfTime> {
    let tables = Tables::new(aliases, program.locations.len());
    Prepared::new(program, &tables, question, changes)?.answer()
}

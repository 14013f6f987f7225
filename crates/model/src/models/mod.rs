//! Memory models: is this graph consistent, and if not, which axiom fails?
//!
//! One file per model, in the order of herd's cat files: citation, the paper's letters, derived relations,
//! named axioms. Every axiom says that some relation is acyclic or irreflexive, so every failure comes with a
//! cycle.

mod armv7;
mod armv8;
mod ra;
mod rc11;
mod rc20;
mod sc;
mod tso;

use crate::graph::Graph;
use crate::{Relation, Set};
use std::fmt;
use std::str::FromStr;

/// A memory model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Release/acquire: every access is as if release or acquire.
    Ra,
    /// RC11, the repaired C11. What programs are checked against if nothing else is said.
    #[default]
    Rc11,
    /// RC20, which has no SC accesses: an SC access is an SC fence and the access, an SC fence an update of a hidden location.
    Rc20,
    /// Total store order (x86).
    Tso,
    /// ARMv8, other-multi-copy-atomic.
    ArmV8,
    /// ARMv7.
    ArmV7,
}

/// An axiom of a model that a graph does not satisfy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The model.
    pub model: Model,
    /// The axiom's name.
    pub axiom: &'static str,
    /// The events of a cycle that the axiom forbids, in order, by their numbers in the graph.
    pub cycle: Vec<usize>,
}

impl Model {
    /// All models, the strongest of each family first.
    pub const ALL: [Model; 7] =
        [Model::Sc, Model::Ra, Model::Rc11, Model::Rc20, Model::Tso, Model::ArmV8, Model::ArmV7];

    /// The models that runs can be watched for. Under SC no access is stale.
    pub const WATCHED: [Model; 5] = [Model::Sc, Model::Ra, Model::Rc11, Model::Rc20, Model::Tso];

    /// The model with this name.
    pub fn named(name: &str) -> Option<Model> {
        Model::ALL.into_iter().find(|model| model.name() == name)
    }

    /// The model's number in the protocol between `seqcst explore` and the runtime. Never changes.
    pub const fn number(self) -> u32 {
        match self {
            Model::Sc => 0,
            Model::Rc20 => 1,
            Model::Ra => 2,
            Model::Tso => 3,
            Model::ArmV8 => 4,
            Model::ArmV7 => 5,
            Model::Rc11 => 6,
        }
    }

    /// The model with this number.
    pub fn from_number(number: u32) -> Option<Model> {
        Model::ALL.into_iter().find(|model| model.number() == number)
    }

    /// Whether the graph is consistent in this model.
    pub fn check<const W: usize>(self, graph: &Graph<W>) -> Result<(), Violation> {
        let broken = match self {
            Model::Sc => sc::check(graph),
            Model::Ra => ra::check(graph),
            Model::Rc11 => rc11::check(graph),
            Model::Rc20 => rc20::check(graph),
            Model::Tso => tso::check(graph),
            Model::ArmV8 => armv8::check(graph),
            Model::ArmV7 => armv7::check(graph),
        };
        broken.map_err(|Broken { axiom, cycle }| Violation { model: self, axiom, cycle })
    }

    /// Whether the graph is consistent in this model, with no word about why not.
    pub fn allows<const W: usize>(self, graph: &Graph<W>) -> bool {
        self.check(graph).is_ok()
    }

    /// Whether the model forbids cycles of `po ∪ rf`. Consistent graphs of such a model can be built one
    /// event at a time, each event reading from one that is already there, and every stage is consistent.
    pub fn is_causal(self) -> bool {
        matches!(self, Model::Sc | Model::Ra | Model::Rc11 | Model::Rc20 | Model::Tso)
    }

    /// Whether data races are judged by the model's happens-before, rather than by which accesses can come next.
    pub fn has_races(self) -> bool {
        matches!(self, Model::Rc11 | Model::Rc20)
    }

    /// The model's happens-before, by which data races are judged: that of RA, or that of RC20 and RC11, also where a
    /// model has no notion of its own.
    pub fn happens_before<const W: usize>(self, graph: &Graph<W>) -> Relation<W> {
        match self {
            Model::Ra => ra::hb(graph),
            _ => rc20::hb(graph),
        }
    }

    /// RC11's partial SC order: `psc`, between SC accesses and SC fences.
    pub fn partial_sc_order<const W: usize>(graph: &Graph<W>) -> Relation<W> {
        rc11::psc(graph, &rc20::hb(graph))
    }

    /// What the model is, in a line for people.
    pub fn summary(self) -> &'static str {
        match self {
            Model::Sc => "Plain interleaving: only races and assertions are looked for",
            Model::Ra => "Release/acquire: every access is release or acquire, whatever is written",
            Model::Rc11 => "C11 and C++, Rust: all orders and fences, `seq_cst` as repaired in 2017",
            Model::Rc20 => "C11 without SC accesses: one is an SC fence and a weaker access",
            Model::Tso => "x86: stores are delayed in store buffers",
            Model::ArmV8 => "ARMv8: other-multi-copy-atomic",
            Model::ArmV7 => "ARMv7: stores may reach some threads before others",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Model::Sc => "SC",
            Model::Ra => "RA",
            Model::Rc11 => "RC11",
            Model::Rc20 => "RC20",
            Model::Tso => "TSO",
            Model::ArmV8 => "ARMv8",
            Model::ArmV7 => "ARMv7",
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Ra => "ra",
            Model::Rc11 => "rc11",
            Model::Rc20 => "rc20",
            Model::Tso => "tso",
            Model::ArmV8 => "armv8",
            Model::ArmV7 => "armv7",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no model has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownModel(pub String);

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory model is called `{}` (there are sc, ra, rc11, rc20, tso, armv8, armv7)", self.0)
    }
}

impl std::error::Error for UnknownModel {}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Model, UnknownModel> {
        Model::named(name).ok_or_else(|| UnknownModel(name.to_owned()))
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cycle: Vec<String> = self.cycle.iter().map(|event| event.to_string()).collect();
        write!(f, "{}: {} fails on the cycle {}", self.model, self.axiom, cycle.join(" → "))
    }
}

/// A failed axiom, inside a model's file.
struct Broken {
    axiom: &'static str,
    cycle: Vec<usize>,
}

impl Broken {
    /// The same failure seen from the graph that was split: `origin[e]` is where event `e` comes from.
    fn in_original(mut self, origin: &[usize]) -> Broken {
        self.cycle.iter_mut().for_each(|event| *event = origin.get(*event).copied().unwrap_or(*event));
        self.cycle.dedup();
        self
    }
}

/// The axiom that a relation has no cycle.
fn acyclic<const W: usize>(axiom: &'static str, relation: &Relation<W>) -> Result<(), Broken> {
    if relation.is_acyclic() {
        return Ok(());
    }
    Err(Broken { axiom, cycle: relation.shortest_cycle().unwrap_or_default() })
}

/// The axiom that the composition of these relations relates nothing to itself.
fn irreflexive<const W: usize>(axiom: &'static str, parts: &[&Relation<W>]) -> Result<(), Broken> {
    let Some((first, rest)) = parts.split_first() else { return Ok(()) };
    let composed = rest.iter().fold((*first).clone(), |composed, part| composed.seq(part));
    match (0..composed.len()).find(|&a| composed.contains(a, a)) {
        None => Ok(()),
        Some(start) => Err(Broken { axiom, cycle: cycle_through(parts, start) }),
    }
}

/// The events at which a path through the parts, from `start` back to `start`, changes from one part to the
/// next.
fn cycle_through<const W: usize>(parts: &[&Relation<W>], start: usize) -> Vec<usize> {
    let mut cycle = vec![start];
    let mut here = start;
    for (number, part) in parts.iter().enumerate() {
        let remaining = &parts[number + 1..];
        let leads_back = |next: &usize| {
            let reached = remaining.iter().fold(Set::one(*next), |reached, part| {
                reached.iter().fold(Set::EMPTY, |after, event| after | part.after(event))
            });
            reached.contains(start)
        };
        here = part.after(here).iter().find(leads_back).unwrap_or(start);
        cycle.push(here);
    }
    cycle.pop();
    cycle.dedup();
    if cycle.len() > 1 && cycle.last() == Some(&start) {
        cycle.pop();
    }
    cycle
}

/// SC per location (coherence), which every model here demands in this form or implies: `po_loc ∪ rf ∪ mo ∪
/// fr` is acyclic (\[Fency21] §II.B).
fn sc_per_location<const W: usize>(graph: &Graph<W>) -> Relation<W> {
    graph.po_loc() | &graph.rf | &graph.mo | graph.fr()
}

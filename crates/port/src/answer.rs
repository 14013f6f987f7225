//! What was found about a program and two machines, as the answer that renderers show.

use crate::analysis::{Analysis, Found};
use crate::change::Strength;
use crate::foreign;
use crate::ir::inline::{Note, Reason, Site};
use crate::ir::module::Op;
use crate::ir::patch::Edit;
use crate::ir::source;
use crate::machine::{Fence, Machine};
use crate::program::{Kind, NodeKind};
use crate::robust::{self, Fault, MOST_CYCLES};
use seqcst_model::Mode;
use seqcst_report::answer::{self, Access, Change, Fences, Pair, Ported};
use seqcst_report::{Answer, Assumption, Details, Place};
use std::collections::BTreeMap;

impl Analysis {
    /// The answer about the program that the user calls `name`. Pairs without a cycle are not listed.
    pub fn answer(&self, name: &str, found: &Found) -> Answer {
        let program = &self.ported.program;
        let faults = &found.placement.before.faults;
        let pair = |fault: &Fault| Pair {
            first: self.access(fault.first),
            second: self.access(fault.second),
            cycle: fault.cycle.iter().map(|&site| self.access(site)).collect(),
        };
        let change = |&edit: &Edit| Change { change: self.change(edit, found), place: self.place(edit) };
        let nodes = program.functions.iter().flat_map(|function| &function.nodes);
        let is_access = |kind: &NodeKind| matches!(kind, NodeKind::Access(_) | NodeKind::Opaque { .. });
        let ported = Ported {
            from: found.from.name().to_owned(),
            to: found.to.name().to_owned(),
            why: found.gave_up.clone(),
            threads: program.functions.len(),
            functions: program.functions.iter().map(|function| function.name.clone()).collect(),
            accesses: nodes.filter(|node| is_access(&node.kind)).count(),
            pairs: faults.iter().take(MOST_CYCLES).map(pair).collect(),
            pairs_total: faults.len(),
            fences: (!found.is_late()).then_some(Fences {
                naive: found.naive,
                existing: found.existing,
                inserted: found.edits.len(),
            }),
            changes: found.edits.iter().map(change).collect(),
            exact: found.placement.exact,
            repaired: found.placement.after.is_robust() && found.placement.in_time,
            pairs_left: found.placement.after.faults.len(),
            no_repair: (!found.placement.in_time).then(|| format!("gave up {}", self.limit())),
            notes: self.notes(found.to),
            files: self.code.files.iter().map(|file| file.name.clone()).collect(),
            written: Vec::new(),
            source_patch: None,
            remarks: Vec::new(),
        };
        let named = |it: &crate::assumptions::Assumption| Assumption::Named {
            name: it.name.to_owned(),
            words: it.words.clone(),
        };
        Answer {
            limit: found.gave_up.clone(),
            seconds: found.took.as_secs_f64(),
            assumptions: found.assumptions.iter().map(named).collect(),
            ..Answer::new(name, None, found.verdict(), Details::Port(Box::new(ported)))
        }
    }

    /// An access in words.
    fn access(&self, site: robust::Site) -> Access {
        let program = &self.ported.program;
        let function = program.functions.get(site.function);
        let node = function.and_then(|function| function.nodes.get(site.node));
        let location = |number: usize| {
            program.locations.get(number).map_or("anything", |location| &location.name).to_owned()
        };
        let (access, location) = match node.map(|node| &node.kind) {
            Some(NodeKind::Access(access)) => {
                let kind = match access.kind {
                    Kind::Load => "load",
                    Kind::Store => "store",
                    Kind::Rmw => "read-modify-write",
                    Kind::Cas => "compare-and-swap",
                };
                (format!("{} {kind}", order(access.order)), location(access.location))
            }
            Some(NodeKind::Opaque { name, location: number, .. }) => {
                (format!("call of {name}"), location(*number))
            }
            _ => ("access".to_owned(), "anything".to_owned()),
        };
        Access {
            access,
            location,
            function: function.map(|function| function.name.clone()).unwrap_or_default(),
            place: node.and_then(|node| node.place.clone()),
            writes: site.write,
            id: (site.function, site.node),
        }
    }

    /// Whether a change is about a read-modify-write.
    fn swaps(&self, edit: Edit) -> bool {
        let Site::Before { function, block, index } = edit.site() else { return false };
        let block = self.code.function(function).and_then(|f| f.blocks.get(block as usize));
        let instruction = block.and_then(|block| block.body.get(index as usize));
        instruction.is_some_and(|i| matches!(i.op, Op::Rmw { .. } | Op::CompareExchange { .. }))
    }

    fn place(&self, edit: Edit) -> Option<Place> {
        source::place(&self.code, edit.site())
    }

    /// A change in words.
    fn change(&self, edit: Edit, found: &Found) -> String {
        let swaps = self.swaps(edit);
        let (what, instruction) = match edit {
            Edit::Fence(_, fence) => return format!("a fence in front: {}", instruction(found.to, fence)),
            Edit::Strengthen(_, Strength::Release) => ("a release", if swaps { "stlxr" } else { "stlr" }),
            Edit::Strengthen(_, Strength::Acquire) if swaps => ("an acquire", "ldaxr"),
            // An acquire load is `ldapr` there.
            Edit::Strengthen(_, Strength::Acquire) if found.features.rcpc => ("seq_cst", "ldar"),
            Edit::Strengthen(_, Strength::Acquire) => ("an acquire", "ldar"),
            Edit::Strengthen(_, Strength::AcquirePc) => ("an acquire", "ldapr"),
        };
        format!("make it {what} ({instruction})")
    }

    /// What the answer may be wrong about, place by place, and what was treated conservatively, each once, with how often and
    /// where first.
    fn notes(&self, to: Machine) -> Vec<answer::Note> {
        let assembly = foreign::assembly(self, to).into_iter();
        let mut all: Vec<answer::Note> = assembly
            .map(|it| {
                note(
                    "assembly-refused",
                    true,
                    format!("{}: something else has to stand there", it.words),
                    it.place,
                )
            })
            .collect();
        let mut notes: BTreeMap<(bool, String, Option<Position>), answer::Note> = BTreeMap::new();
        for found in &self.ported.notes {
            let place = source::place(&self.code, found.site);
            let (kind, is_warning) = kind(found.reason);
            let apart = place.as_ref().filter(|_| is_warning);
            let apart = apart.map(|place| (place.file.clone(), place.line, place.column));
            let words = words(found);
            let known = notes.entry((!is_warning, words.clone(), apart));
            let known = known.or_insert_with(|| note(kind, is_warning, words, None));
            known.times += 1;
            if known.place.is_none() {
                known.place = place;
            }
        }
        all.iter_mut().for_each(|note| note.times = 1);
        all.extend(notes.into_values());
        all
    }
}

/// A place, in order: file, line, column.
type Position = (String, u32, u32);

/// A note that was not found anywhere yet.
fn note(kind: &str, warning: bool, note: String, place: Option<Place>) -> answer::Note {
    answer::Note { kind: kind.to_owned(), warning, note, times: 0, place }
}

/// What programs call a note, and whether the answer may be wrong for it.
fn kind(reason: Reason) -> (&'static str, bool) {
    match reason {
        Reason::VolatileFlag => ("volatile-flag", true),
        Reason::RelaxedFlag => ("relaxed-flag", true),
        Reason::External => ("external-call", false),
        Reason::Indirect => ("indirect-call", false),
        Reason::Assembly => ("assembly", false),
        Reason::Recursion => ("recursion", false),
        Reason::Size => ("too-large", false),
        Reason::Instruction => ("instruction", false),
        Reason::Given => ("given-away", false),
    }
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

fn order(order: Mode) -> &'static str {
    match order {
        Mode::NonAtomic => "plain",
        Mode::Relaxed => "relaxed",
        Mode::Acquire => "acquire",
        Mode::Release => "release",
        Mode::AcqRel => "acq_rel",
        Mode::SeqCst => "seq_cst",
    }
}

fn words(note: &Note) -> String {
    let name = &note.name;
    match note.reason {
        Reason::VolatileFlag => format!(
            "`{name}` is volatile and not atomic, and may guard plain accesses: --atomics-only left these out, though there is a data race then"
        ),
        Reason::RelaxedFlag => format!(
            "`{name}` may guard plain accesses, and nothing orders it with them: --atomics-only left these out, though there is a data race then"
        ),
        Reason::External => {
            format!("`{name}` is not in these files: it may access everything that threads share")
        }
        Reason::Indirect => {
            "a call through a pointer: it may access everything that threads share".to_owned()
        }
        Reason::Assembly => {
            "inline assembly that may access memory: it may access everything that threads share".to_owned()
        }
        Reason::Recursion => {
            format!("`{name}` calls itself: the inner call may access everything that threads share")
        }
        Reason::Size => {
            format!("the thread is too large to follow `{name}`: it may access everything that threads share")
        }
        Reason::Given => format!(
            "the address of `{name}` is given to code that is not known, or stands where pointers are called: any thread may call it at any time (with --threads, only those run)"
        ),
        Reason::Instruction => {
            format!("the instruction `{name}` is not known: it may access everything that threads share")
        }
    }
}

//! What a machine makes of a graph of the oracle: fences appear, accesses get their strength.
//!
//! The axioms are those of `seqcst_model`.

use crate::validate::source::{Replay, Source, Stands};
use seqcst_model::{ArmInstructions, Event, Graph, Mode, Model, Outcome, Relation, Set};
use seqcst_port::change::{Change, Strength};
use seqcst_port::machine::{Acquire, Fence, Machine, Step};
use seqcst_port::mapping::{Features, steps};
use seqcst_port::program::NodeKind;

/// Which dependencies a machine has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depend {
    /// None: a compiler may lose them.
    Not,
    /// Those of the program.
    AsWritten,
    /// Those of the program, and those of the loops that ARMv8 may need for compare-and-swaps.
    AsCompiled,
}

/// The graph as the machine sees it, with these features and changes.
pub fn seen(
    source: &Source,
    graph: &Graph,
    (machine, features): (Machine, Features),
    changes: &[Change],
    depend: Depend,
) -> Graph {
    let mut events: Vec<Event> = Vec::new();
    let mut place = vec![usize::MAX; graph.len()];
    let mut dependencies = Vec::new();
    let mut arm = ArmInstructions::default();
    for (number, event) in graph.events.iter().enumerate() {
        if event.thread.is_none() {
            place[number] = events.len();
            events.push(*event);
        }
    }
    for thread in 0..source.threads() {
        let mut mine: Vec<usize> = graph.thread_events(thread).iter().collect();
        mine.sort_by_key(|&number| graph.events[number].index);
        let mut replay = Replay::new(&source.code, thread, depend == Depend::AsCompiled);
        let mut index = 0;
        let mut push = |event: Event, instruction: Instruction| {
            let number = events.len();
            let mode = match instruction {
                Instruction::Of(mode) => mode,
                Instruction::Ldapr => mark(&mut arm.ldapr, number),
                Instruction::DmbSt => mark(&mut arm.dmb_st, number),
                Instruction::FencedRmw => mark(&mut arm.fenced_rmws, number),
            };
            events.push(Event { mode, index, ..event });
            index += 1;
            number
        };
        for number in mine {
            let event = graph.events[number];
            match source.sites[event.site as usize] {
                Stands::For(point) => {
                    for change in changes {
                        if let Change::Insert { at, fence } = *change
                            && at == point
                        {
                            push(event, of_fence(fence));
                        }
                    }
                }
                Stands::Node { function, node } => {
                    let what = &source.program.functions[function].nodes[node].kind;
                    let both = steps(machine, features, what);
                    let failed = matches!(event.outcome, Outcome::Read(_));
                    let mut steps = match both.failure {
                        Some(failure) if failed => failure,
                        _ => both.success,
                    };
                    strengthen(&mut steps, function, node, changes);
                    let (instruction, fences) = split(&steps);
                    let fence = Event { loc: None, outcome: Outcome::Fenced, ..event };
                    fences.0.into_iter().for_each(|f| {
                        push(fence, of_fence(f));
                    });
                    if let NodeKind::Access(_) = what {
                        place[number] = push(event, instruction);
                        let value = match what {
                            NodeKind::Access(_) if weak(source, thread, node) => Some(u32::from(!failed)),
                            _ => event.outcome.value_read(),
                        };
                        let (data, ctrl) = replay.access(node, place[number], value);
                        dependencies.push((place[number], data, ctrl));
                    }
                    fences.1.into_iter().for_each(|f| {
                        push(fence, of_fence(f));
                    });
                }
            }
        }
    }
    let moved = |r: &Relation| {
        let kept = r.pairs().filter(|&(a, b)| place[a] != usize::MAX && place[b] != usize::MAX);
        Relation::from_pairs(events.len(), kept.map(|(a, b)| (place[a], place[b])))
    };
    let (rf, mo) = (moved(&graph.rf), moved(&graph.mo));
    let mut seen = Graph { arm, ..Graph::from_parts(events, rf, mo) };
    for (event, data, ctrl) in dependencies.into_iter().filter(|_| depend != Depend::Not) {
        data.into_iter().for_each(|on| seen.data.insert(on, event));
        ctrl.into_iter().for_each(|on| seen.ctrl.insert(on, event));
    }
    seen
}

fn weak(source: &Source, thread: usize, node: usize) -> bool {
    use seqcst_program::code::{AccessKind, Instr};
    let instr = &source.code.threads[thread].instrs[node];
    matches!(instr, Instr::Access(access) if matches!(access.kind, AccessKind::WeakCas { .. }))
}

/// What an event of a machine is.
enum Instruction {
    /// What the model makes of this mode.
    Of(Mode),
    Ldapr,
    DmbSt,
    FencedRmw,
}

fn mark(set: &mut Set, event: usize) -> Mode {
    set.insert(event);
    Mode::Relaxed
}

fn of_fence(fence: Fence) -> Instruction {
    match fence {
        Fence::Full => Instruction::Of(Mode::SeqCst),
        Fence::Load => Instruction::Of(Mode::Acquire),
        Fence::Store => Instruction::DmbSt,
    }
}

fn strengthen(steps: &mut [Step], here: usize, at: usize, changes: &[Change]) {
    for change in changes {
        let Change::Strengthen { function, node, to } = *change else { continue };
        if (function, node) != (here, at) {
            continue;
        }
        for step in steps.iter_mut() {
            match (step, to) {
                (Step::Read(acquire), Strength::Acquire) => *acquire = Acquire::Yes,
                (Step::Read(acquire), Strength::AcquirePc) => *acquire = (*acquire).max(Acquire::Pc),
                (Step::Write { release, .. }, Strength::Release) => *release = true,
                _ => {}
            }
        }
    }
}

/// The access, and the fences before and after it.
fn split(steps: &[Step]) -> (Instruction, (Vec<Fence>, Vec<Fence>)) {
    let (mut acquire, mut release, mut inside) = (Acquire::No, false, false);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let last = steps.iter().rposition(|step| !matches!(step, Step::Fence(_)));
    let mut seen = false;
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Fence(fence) if !seen => before.push(fence),
            Step::Fence(fence) if last < Some(number) => after.push(fence),
            Step::Fence(_) => inside = true,
            Step::Read(strength) => (acquire, seen) = (strength, true),
            Step::Write { release: strength, .. } => (release, seen) = (strength, true),
        }
    }
    let instruction = match (acquire, release) {
        _ if inside => Instruction::FencedRmw,
        (Acquire::No, false) => Instruction::Of(Mode::Relaxed),
        (Acquire::Pc, _) => Instruction::Ldapr,
        (Acquire::Yes, false) => Instruction::Of(Mode::Acquire),
        (Acquire::No, true) => Instruction::Of(Mode::Release),
        (Acquire::Yes, true) => Instruction::Of(Mode::AcqRel),
    };
    (instruction, (before, after))
}

/// Whether the machine allows a graph that was made for it.
pub fn allows(machine: Machine, graph: &Graph) -> bool {
    let model = match machine {
        Machine::Sc => Model::Sc,
        Machine::X86 => Model::Tso,
        Machine::ArmV8 => Model::ArmV8,
        Machine::ArmV7 => Model::ArmV7,
    };
    model.allows(graph)
}

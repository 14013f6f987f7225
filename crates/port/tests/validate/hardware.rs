//! What a machine makes of a graph of the oracle: fences appear, accesses get their strength.
//!
//! The axioms are those of `seqcst_model`. Its ARM models have no `dmb ishst`, no `ldapr`, and no fence inside a
//! compare-and-swap (ARMv7); with these three added they stand here again, and whenever none of them is used, both must
//! agree.

use crate::source::{Replay, Source, Stands};
use seqcst_model::{Event, Graph, Mode, Model, Outcome, Relation};
use seqcst_port::change::{Change, Strength};
use seqcst_port::machine::{Acquire, Fence, Machine, Step};
use seqcst_port::mapping::{Features, steps};
use seqcst_port::program::What;

/// How a graph carries `dmb ishst`, and a read that it is an `ldapr`.
const ODD: Mode = Mode::NonAtomic;

/// The graph as the machine sees it, with these features and changes, with dependencies or without.
pub fn seen(
    source: &Source,
    graph: &Graph,
    (machine, features): (Machine, Features),
    changes: &[Change],
    depend: bool,
) -> Graph {
    let mut events: Vec<Event> = Vec::new();
    let mut place = vec![usize::MAX; graph.len()];
    let mut dependencies = Vec::new();
    for (number, event) in graph.events.iter().enumerate() {
        if event.thread.is_none() {
            place[number] = events.len();
            events.push(*event);
        }
    }
    for thread in 0..source.threads() {
        let mut mine: Vec<usize> = graph.thread_events(thread).iter().collect();
        mine.sort_by_key(|&number| graph.events[number].index);
        let mut replay = Replay::new(&source.code, thread);
        let mut index = 0;
        let mut push = |event: Event, mode: Mode| {
            events.push(Event { mode, index, ..event });
            index += 1;
            events.len() - 1
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
                    let what = &source.program.functions[function].nodes[node].what;
                    let both = steps(machine, features, what);
                    let failed = matches!(event.outcome, Outcome::Read(_));
                    let mut steps = match both.failure {
                        Some(failure) if failed => failure,
                        _ => both.success,
                    };
                    strengthen(&mut steps, function, node, changes);
                    let (mode, fences) = split(&steps);
                    let fence = Event { loc: None, outcome: Outcome::Fenced, ..event };
                    fences.0.into_iter().for_each(|f| {
                        push(fence, of_fence(f));
                    });
                    if let What::Access(_) = what {
                        place[number] = push(event, mode);
                        let value = match what {
                            What::Access(_) if weak(source, thread, node) => Some(u32::from(!failed)),
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
    let mut seen = Graph::from_parts(events, rf, mo);
    for (event, data, ctrl) in dependencies.into_iter().filter(|_| depend) {
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

fn of_fence(fence: Fence) -> Mode {
    match fence {
        Fence::Full => Mode::SeqCst,
        Fence::Load => Mode::Acquire,
        Fence::Store => ODD,
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

/// The mode of the access, and the fences before and after it. A fence between the halves of a read-modify-write is
/// shown by mode `rel`: only ARMv7 has it, and it has no release writes.
fn split(steps: &[Step]) -> (Mode, (Vec<Fence>, Vec<Fence>)) {
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
    let mode = match (acquire, release || inside) {
        (Acquire::No, false) => Mode::Relaxed,
        (Acquire::Pc, _) => ODD,
        (Acquire::Yes, false) => Mode::Acquire,
        (Acquire::No, true) => Mode::Release,
        (Acquire::Yes, true) => Mode::AcqRel,
    };
    (mode, (before, after))
}

/// Whether the machine allows a graph that was made for it.
pub fn allows(machine: Machine, graph: &Graph) -> bool {
    let odd = graph.events.iter().any(|e| e.thread.is_some() && e.mode == ODD);
    match machine {
        Machine::Sc => Model::Sc.allows(graph),
        Machine::X86 => Model::Tso.allows(graph),
        Machine::ArmV8 => {
            let allowed = armv8(graph);
            assert!(odd || allowed == Model::ArmV8.allows(graph), "ARMv8: {allowed}\n{graph}");
            allowed
        }
        Machine::ArmV7 => {
            let inside = graph.events.iter().any(|e| e.mode == Mode::Release);
            let allowed = armv7(graph);
            assert!(odd || inside || allowed == Model::ArmV7.allows(graph), "ARMv7: {allowed}\n{graph}");
            allowed
        }
    }
}

fn coherent(graph: &Graph) -> bool {
    let atomic = graph.fre().seq(&graph.coe()).seq(&graph.rmw.inverse()).is_irreflexive();
    (graph.po_loc() | &graph.rf | &graph.mo | graph.fr()).is_acyclic() && atomic
}

/// `crates/model/src/models/armv8.rs`, with `[W];po;[FST];po;[W]` and `[Q];po`.
fn armv8(original: &Graph) -> bool {
    let (graph, _) = original.split_rmws();
    let po = &graph.po;
    let (r, w) = (graph.reads(), graph.writes());
    let odd = graph.with_mode(ODD);
    let full = graph.fences() & graph.releases();
    let (fld, fst) = (graph.fences() & graph.with_mode(Mode::Acquire), graph.fences() & odd);
    let (l, a, q) = (w & graph.releases(), r & graph.acquires(), r & odd);
    let bob = po.to(full).seq(po)
        | po.within(r, fld).seq(po)
        | po.within(w, fst).seq(&po.to(w))
        | po.within(l, a)
        | po.to(l)
        | po.from(a | q)
        | po.to(l).seq(&graph.coi());
    let dp = &graph.addr | &graph.data.to(w);
    let ctrl = &graph.ctrl | &graph.ctrl.seq(po);
    let dob = dp.seq(&graph.rfi()) | dp | (ctrl | graph.addr.seq(po)).to(w);
    let aob = &graph.rmw | &graph.rfi().within(graph.rmw.codomain(), a | q);
    let obs = graph.rfe() | graph.coe() | graph.fre();
    coherent(&graph) && (obs | dob | aob | bob).is_acyclic()
}

/// `crates/model/src/models/armv7.rs`, with `dmb ishst` and fences inside read-modify-writes.
fn armv7(original: &Graph) -> bool {
    let (graph, _) = original.split_rmws();
    let po = &graph.po;
    let (r, w) = (graph.reads(), graph.writes());
    let dmb = graph.fences() & graph.with_mode(Mode::SeqCst);
    let st = graph.fences() & graph.with_mode(ODD);
    let inside = graph.rmw.from(graph.with_mode(Mode::Release));
    // The read may be before or after the fence: the loop goes round it.
    let inside = po.seq(&inside).seq(&po.maybe());
    let fence = &((po.to(dmb).seq(po) | inside).within(r | w, r | w) | po.within(w, st).seq(&po.to(w)));
    let ahb = ppo(&graph) | fence | graph.rfe();
    let star = &ahb.star();
    let base = (fence | &graph.rfe().seq(fence)).seq(star);
    let com = &graph.rf | &graph.mo | graph.fr();
    let prop = base.within(w, w) | com.star().seq(&base.star()).seq(fence).seq(star);
    coherent(&graph)
        && ahb.is_acyclic()
        && graph.fre().seq(&prop).seq(star).is_irreflexive()
        && (&graph.mo | &prop).is_acyclic()
}

fn ppo(graph: &Graph) -> Relation {
    let (r, w) = (graph.reads(), graph.writes());
    let po_loc = &graph.po_loc();
    let dp = &(&graph.addr | &graph.data.to(w));
    let ctrl = &graph.ctrl | &graph.ctrl.seq(&graph.po);
    let mut ii = dp | &(po_loc & &graph.fre().seq(&graph.rfe())) | graph.rfi();
    let mut ic = Relation::empty(graph.len());
    let mut ci = po_loc & &graph.coe().seq(&graph.rfe());
    let mut cc = dp | &ctrl | graph.addr.seq(&graph.po) | &graph.rmw;
    loop {
        let new_ii = &ii | &ci | ic.seq(&ci) | ii.seq(&ii);
        let new_ic = &ic | &ii | &cc | ic.seq(&cc) | ii.seq(&ic);
        let new_ci = &ci | &ci.seq(&ii) | cc.seq(&ci);
        let new_cc = &cc | &ci | ci.seq(&ic) | cc.seq(&cc);
        if (&new_ii, &new_ic, &new_ci, &new_cc) == (&ii, &ic, &ci, &cc) {
            return ii.within(r, r) | ic.within(r, w);
        }
        (ii, ic, ci, cc) = (new_ii, new_ic, new_ci, new_cc);
    }
}

//! Where the procedures of \[Fency21], read literally, go wrong: programs that must not be called robust, and fences that must be strong.

use seqcst_model::Mode;
use seqcst_port::change::{Change, Strength};
use seqcst_port::machine::{Fence, Machine};
use seqcst_port::place::{Costs, place};
use seqcst_port::program::{Access, Base, Edge, Function, Kind, Location, Node, NodeKind, Program};
use seqcst_port::robust::{Question, check};
use std::cell::Cell;

thread_local! {
    static TAGS: Cell<u32> = const { Cell::new(0) };
}

fn access(kind: Kind, order: Mode, location: usize) -> NodeKind {
    let (failure, size, volatile, depends) = (Mode::Relaxed, 4, false, Vec::new());
    NodeKind::Access(Access { kind, order, failure, location, size, volatile, depends })
}

/// A function without branches.
fn straight(name: &str, many: bool, steps: Vec<NodeKind>) -> Function {
    let node = |(number, what): (usize, NodeKind)| {
        let tag = TAGS.with(|tags| tags.replace(tags.get() + 1));
        let next = if what == NodeKind::Nothing { Vec::new() } else { vec![Edge::to(number + 1)] };
        Node { kind: what, next, depth: 0, place: None, tag }
    };
    let nodes = steps.into_iter().chain([NodeKind::Nothing]).enumerate().map(node).collect();
    Function { name: name.to_owned(), nodes, entry: 0, many }
}

fn variables(many: u32) -> Vec<Location> {
    (0..many)
        .map(|n| Location { name: format!("x{n}"), base: Base::Global(n), offset: Some(0), size: 4 })
        .collect()
}

fn is_robust(program: &Program, from: Machine, to: Machine) -> bool {
    check(program, program, Question::new(from, to), &[]).expect("no limit").is_robust()
}

const RLX: Mode = Mode::Relaxed;
const SC: Mode = Mode::SeqCst;

#[test]
fn a_pair_may_be_in_a_cycle_with_itself() {
    // flag[i] = 1; r = flag[1 - i], in two threads: store buffering.
    let element =
        |name: &str| Location { name: name.to_owned(), base: Base::Global(0), offset: None, size: 4 };
    let body = vec![access(Kind::Store, RLX, 0), access(Kind::Load, RLX, 1)];
    let program = Program {
        functions: vec![straight("t", true, body)],
        locations: vec![element("flag[i]"), element("flag[1 - i]")],
    };
    assert!(!is_robust(&program, Machine::Sc, Machine::X86));
    let found = place(&program, &program, Question::new(Machine::Sc, Machine::X86), &Costs::default())
        .expect("no limit");
    assert_eq!(found.changes.len(), 1);
    assert!(found.after.is_robust() && found.exact);
}

/// Both threads write one variable and then read the other.
fn store_buffering(kind: Kind, order: Mode) -> Program {
    let thread = |name: &str, mine: usize| {
        straight(name, false, vec![access(kind, order, mine), access(Kind::Load, RLX, 1 - mine)])
    };
    Program { functions: vec![thread("t0", 0), thread("t1", 1)], locations: variables(2) }
}

#[test]
fn a_read_modify_write_is_no_store() {
    // x86 orders a locked instruction before a load, ARMv8 does not, and `dmb ishld` orders only its read.
    let program = store_buffering(Kind::Rmw, RLX);
    assert!(is_robust(&program, Machine::Sc, Machine::X86));
    let found = place(&program, &program, Question::new(Machine::X86, Machine::ArmV8), &Costs::default())
        .expect("no limit");
    assert_eq!(found.changes.len(), 2);
    assert!(found.changes.iter().all(|change| matches!(change, Change::Insert { fence: Fence::Full, .. })));
}

#[test]
fn what_matters_is_the_mapping_of_the_old_machine() {
    // A seq_cst store is `xchg` on x86, which is a fence, and `stlr` on ARMv8, which is none for a later `ldr`.
    let program = store_buffering(Kind::Store, SC);
    assert!(is_robust(&program, Machine::Sc, Machine::X86));
    assert!(!is_robust(&program, Machine::X86, Machine::ArmV8));
    let found = place(&program, &program, Question::new(Machine::X86, Machine::ArmV8), &Costs::default())
        .expect("no limit");
    let acquire = |change: &Change| matches!(change, Change::Strengthen { to: Strength::Acquire, .. });
    assert!(found.changes.len() == 2 && found.changes.iter().all(acquire), "{:?}", found.changes);
    // A relaxed one may be passed on x86, too.
    assert!(is_robust(&store_buffering(Kind::Store, RLX), Machine::X86, Machine::ArmV8));
}

#[test]
fn two_reads_can_be_in_conflict() {
    // IRIW: the readers disagree about the order of the writes.
    let load = |location| access(Kind::Load, RLX, location);
    let program = Program {
        functions: vec![
            straight("w0", false, vec![access(Kind::Store, RLX, 0)]),
            straight("w1", false, vec![access(Kind::Store, RLX, 1)]),
            straight("r0", false, vec![load(0), load(1)]),
            straight("r1", false, vec![load(1), load(0)]),
        ],
        locations: variables(2),
    };
    assert!(is_robust(&program, Machine::Sc, Machine::X86));
    assert!(!is_robust(&program, Machine::X86, Machine::ArmV8));
    // Without dependencies ARMv8 lets the readers do so already.
    assert!(is_robust(&program, Machine::ArmV8, Machine::ArmV7));
}

#[test]
fn a_load_fence_in_front_orders_no_earlier_write() {
    // W x; R y; W z against R z; R y'; R x: the fence before W z must order W x, too.
    let program = Program {
        functions: vec![
            straight(
                "t0",
                false,
                vec![access(Kind::Store, RLX, 0), access(Kind::Load, RLX, 1), access(Kind::Store, RLX, 2)],
            ),
            straight(
                "t1",
                false,
                vec![
                    access(Kind::Store, RLX, 1),
                    access(Kind::Load, Mode::Acquire, 2),
                    access(Kind::Load, Mode::Acquire, 0),
                ],
            ),
        ],
        locations: variables(3),
    };
    for (from, to) in Machine::PAIRS {
        let found = place(&program, &program, Question::new(from, to), &Costs::default()).expect("no limit");
        assert!(found.after.is_robust(), "{from}–{to}: {:?}", found.changes);
        assert!(
            check(&program, &program, Question::new(from, to), &found.changes).expect("no limit").is_robust()
        );
    }
}

#[test]
fn an_access_in_a_loop_may_be_reordered_with_itself() {
    // One thread writes a[1] and then a[0], in order; the other reads all of a in a loop.
    let element = |offset| Location { name: "a".to_owned(), base: Base::Global(0), offset, size: 4 };
    let writer = vec![access(Kind::Store, RLX, 0), NodeKind::Fence(SC), access(Kind::Store, RLX, 1)];
    let mut reader = straight("reader", false, vec![access(Kind::Load, RLX, 2)]);
    reader.nodes[0].next.push(Edge::to(0));
    let program = Program {
        functions: vec![straight("writer", false, writer), reader],
        locations: vec![element(Some(4)), element(Some(0)), element(None)],
    };
    assert!(is_robust(&program, Machine::Sc, Machine::X86));
    assert!(!is_robust(&program, Machine::X86, Machine::ArmV8));
    assert!(!is_robust(&program, Machine::Sc, Machine::ArmV7));
}

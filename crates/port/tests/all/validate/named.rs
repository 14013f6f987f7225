//! Small programs that show one rule each: what the analysis says, and that the oracle agrees.

use crate::validate::{Source, compare, graphs};
use seqcst_port::change::{Change, Strength};
use seqcst_port::machine::{Fence, Machine};
use seqcst_port::mapping::Features;
use seqcst_port::place::{Costs, place};
use seqcst_port::robust::Question;

/// The changes that make two threads robust; none if they are.
fn changes(threads: [&str; 2], question: Question) -> Vec<Change> {
    let [first, second] = threads;
    let text = format!(
        "max_value 3;\nglobal x, y, z;\nfn t0 {{\n local r;\n {first}\n}}\nfn t1 {{\n local r;\n {second}\n}}\n"
    );
    let source = Source::read(&text, "named.tpl");
    compare(&text, &source, &graphs(&source, 20_000).expect("few graphs"), question);
    place(&source.program, &source.program, question, &Costs::default()).expect("no limit").changes
}

fn strengths(changes: &[Change]) -> Vec<Strength> {
    let strength = |change: &Change| match change {
        Change::Strengthen { to, .. } => Some(*to),
        Change::Insert { .. } => None,
    };
    changes.iter().filter_map(strength).collect()
}

const SC_ARMV8: fn() -> Question = || Question::new(Machine::Sc, Machine::ArmV8);
const RCPC: fn() -> Question = || Question { features: Features { rcpc: true }, ..SC_ARMV8() };

#[test]
fn an_rcpc_load_may_pass_an_earlier_release() {
    let store_buffering = ["x.store(1, rel); r = y.load(acq);", "y.store(1, rel); r = x.load(acq);"];
    assert_eq!(changes(store_buffering, SC_ARMV8()), [], "stlr; ldar");
    let loads = changes(store_buffering, RCPC());
    assert_eq!(strengths(&loads), [Strength::Acquire; 2], "stlr; ldapr: {loads:?}");
    // After a store that is no release, `ldar` alone does not do.
    let relaxed = store_buffering.map(|thread| thread.replace("rel", "rlx"));
    let fences = changes([&relaxed[0], &relaxed[1]], RCPC());
    let full = |change: &Change| matches!(change, Change::Insert { fence: Fence::Full, .. });
    assert!(fences.len() == 2 && fences.iter().all(full), "str; ldapr: {fences:?}");
    // A seq_cst load is `ldar` there, too.
    let seq_cst = store_buffering.map(|thread| thread.replace("acq", "sc"));
    assert_eq!(changes([&seq_cst[0], &seq_cst[1]], RCPC()), [], "stlr; ldar");
}

#[test]
fn an_rcpc_load_is_before_everything_later() {
    let reader = "r = y.load(acq); r = x.load(rlx);";
    let writer = "x.store(1, rlx); y.store(1, rel);";
    assert_eq!(changes([writer, reader], RCPC()), []);
    let relaxed = reader.replace("acq", "rlx");
    assert_eq!(strengths(&changes([writer, &relaxed], RCPC())), [Strength::AcquirePc]);
    assert_eq!(strengths(&changes([writer, &relaxed], SC_ARMV8())), [Strength::Acquire]);
}

#[test]
fn an_rcpc_load_of_what_was_swapped_in_is_after_the_swap() {
    // exchange(x) reads what the other thread wrote last, and the load of x what the exchange wrote, or something later.
    let threads = [
        "r = exchange(x, 1, rlx, rlx); r = x.load(acq); r = y.load(rlx);",
        "y.store(1, rlx); x.store(2, rel);",
    ];
    assert_eq!(changes(threads, RCPC()), []);
}

#[test]
fn dependencies_count_if_they_are_trusted() {
    let load_buffering = ["r = x.load(rlx); y.store(r, rlx);", "r = y.load(rlx); fence; x.store(1, rlx);"];
    assert_eq!(changes(load_buffering, SC_ARMV8()).len(), 1);
    let trusted = Question { trust_dependencies: true, ..SC_ARMV8() };
    assert_eq!(changes(load_buffering, trusted), []);
    // They are not enough on ARMv7, and there are none between loads without an address.
    let armv7 = Question { to: Machine::ArmV7, ..trusted };
    assert_eq!(changes(load_buffering, armv7).len(), 1);
    let message_passing = ["r = x.load(rlx); r = y.load(rlx);", "y.store(1, rlx); x.store(1, rel);"];
    assert_eq!(changes(message_passing, trusted).len(), 1);
}

#[test]
fn read_modify_writes_are_made_stronger() {
    let writer = "y.store(1, rlx); x.store(1, rel);";
    let reader = "r = exchange(x, 2, rlx, rlx); r = y.load(rlx);";
    assert_eq!(strengths(&changes([writer, reader], SC_ARMV8())), [Strength::Acquire]);
    let writer = "y.store(1, rlx); r = FADD(x, 1, rlx, rlx);";
    let reader = "r = x.load(acq); r = y.load(rlx);";
    assert_eq!(strengths(&changes([writer, reader], SC_ARMV8())), [Strength::Release]);
    // Needed in front and behind, `stlxr` and then `ldar` do: one change for each instruction.
    let both = [
        "y.store(1, rlx); r = exchange(x, 1, rlx, rlx); r = z.load(rlx);",
        "z.store(1, rlx); fence; r = exchange(x, 2, rlx, rlx); fence; r = y.load(rlx);",
    ];
    let found = changes(both, SC_ARMV8());
    assert_eq!(strengths(&found), [Strength::Release, Strength::Acquire], "{found:?}");
}

#[test]
fn the_fence_of_a_release_compare_and_swap_may_come_before_its_read() {
    // ARMv7 goes round the fence when a store is refused: what is read then may be read after what comes later.
    let threads = ["y.store(1, rlx); x.store(1, rel);", "r = CAS(x, 1, 2, rlx, rel); r = y.load(rlx);"];
    let found = changes(threads, Question::new(Machine::Sc, Machine::ArmV7));
    assert!(matches!(found[..], [Change::Insert { fence: Fence::Full, .. }]), "{found:?}");
}

#[test]
fn a_compare_and_swap_may_be_a_loop_with_a_branch_on_armv8() {
    // Nothing is made of what it has read, or compared with: the branch is its own. On ARMv7 dependencies are not cumulative.
    let question = Question::new(Machine::ArmV8, Machine::ArmV7);
    let other = "r = y.load(acq); x.store(1, rlx);";
    assert_eq!(changes(["r = CAS(x, 1, 2, rlx, rlx); y.store(1, rlx);", other], question).len(), 1);
    assert_eq!(
        changes(["r = x.load(rlx); r = CAS(z, r, 2, rlx, rlx); y.store(1, rlx);", other], question).len(),
        1
    );
    assert_eq!(changes(["r = FADD(x, 1, rlx, rlx); y.store(1, rlx);", other], question), []);
    // To ARMv8 it is one instruction, where there is one: nothing to lean on.
    let trusted = Question { trust_dependencies: true, ..SC_ARMV8() };
    assert_eq!(changes(["r = CAS(x, 1, 2, rlx, rlx); y.store(1, rlx);", other], trusted).len(), 1);
}

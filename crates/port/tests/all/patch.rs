//! Repaired files: LLVM accepts them, the fences are in the assembly, and the analysis finds nothing in them any more.

use crate::common::repair::{assembly, expected, flags, load, read_again, repair};
use crate::common::{compile, tool};
use seqcst_port::change::{Change, Strength};
use seqcst_port::ir::inline::Site;
use seqcst_port::ir::patch::{Edit, apply, edits};
use seqcst_port::machine::{Fence, Machine};
use seqcst_port::mapping::Features;
use seqcst_port::place::{Costs, place};
use seqcst_port::program::Point;
use seqcst_port::robust::{Question, check};

const SHAPES: [&str; 6] = ["SB", "MP", "LB", "LOOP", "CAS", "EDGE"];

/// Repairs a shape for two machines, and looks at what came out.
fn repaired(compiler: &str, shape: &str, from: Machine, to: Machine) {
    let define = format!("-D{shape}");
    let mut all = vec!["-O1", "-g", "-ffreestanding", &define];
    all.extend(flags(to));
    let path = compile(compiler, "litmus.c", "c", &all);
    let text = std::fs::read_to_string(&path).expect("just made");
    let about = format!("{compiler}-{shape}-{from}-{to}");
    let before = assembly(compiler, flags(to), &format!("{about}-before.ll"), &text);
    let original = load(shape, text);
    let question = Question::new(from, to);
    let repaired = repair(&original, question);
    let after = assembly(compiler, flags(to), &format!("{about}-after.ll"), &repaired.text);
    let wanted = expected(&before, &original.0, &repaired.edits, to);
    assert_eq!(after, wanted, "{about}: {:?}", repaired.edits);
    let (again, changes) = read_again(shape, &repaired.text);
    let answer = check(&again.program, &again.classes, question, &changes).expect("no limit");
    assert!(answer.is_robust(), "{about}: {:?}", answer.faults);
}

#[test]
fn repaired_files_compile_and_hold() {
    if !tool("clang-19") {
        return;
    }
    for shape in SHAPES {
        for (from, to) in Machine::PAIRS {
            repaired("clang-19", shape, from, to);
        }
    }
}

#[test]
fn repaired_files_of_older_compilers() {
    if !tool("clang-14") {
        return;
    }
    for shape in ["MP", "CAS", "EDGE"] {
        repaired("clang-14", shape, Machine::Sc, Machine::ArmV8);
        repaired("clang-14", shape, Machine::Sc, Machine::ArmV7);
    }
}

/// A fence at every single place where one can be put: LLVM takes each of them, and all of them at once.
#[test]
fn a_fence_can_be_put_everywhere() {
    if !tool("clang-19") {
        return;
    }
    for (source, language, level) in [("everything.c", "c", "-O1"), ("everything.c", "c", "-O0")] {
        let path = compile("clang-19", source, language, &[level, "-g", "--target=x86_64-linux-gnu"]);
        let (code, ported) = load(source, std::fs::read_to_string(&path).expect("just made"));
        let mut changes = Vec::new();
        for (function, f) in ported.program.functions.iter().enumerate() {
            let mut entering = vec![0; f.nodes.len()];
            f.nodes.iter().flat_map(|node| &node.next).for_each(|edge| entering[edge.to] += 1);
            for (node, n) in f.nodes.iter().enumerate() {
                if n.tag == u32::MAX {
                    continue;
                }
                changes.push(Change::Insert { at: Point::Before { function, node }, fence: Fence::Full });
                for (edge, e) in n.next.iter().enumerate() {
                    if n.next.len() > 1 && entering[e.to] > 1 {
                        changes.push(Change::Insert {
                            at: Point::On { function, from: node, edge },
                            fence: Fence::Full,
                        });
                    }
                }
            }
        }
        let all = edits(&code, &ported, &changes).expect("all have places");
        let patched = apply(&code, 0, &all, Machine::X86, Features::default()).expect("all can be written");
        let found = assembly("clang-19", flags(Machine::X86), "everywhere.ll", &patched);
        let fences: usize = found.values().filter_map(|counts| counts.get("mfence")).sum();
        assert!(all.len() > 20 && fences > 20, "{} {fences}", all.len());
    }
}

/// What a call reads and then writes: a fence goes in front of the call, so nothing orders the two.
#[test]
fn fences_do_not_go_inside_of_calls() {
    let text = "@x = global [32 x i32] zeroinitializer\n@y = global [32 x i32] zeroinitializer\n\
                @z = global i32 0\n\
                declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\ndeclare i32 @pthread_create(ptr, ptr, ptr, ptr)\n\
                define ptr @left(ptr %p) {\n  call void @llvm.memcpy.p0.p0.i64(ptr @y, ptr @x, i64 128, i1 false)\n  ret ptr null\n}\n\
                define ptr @right(ptr %p) {\n  call void @llvm.memcpy.p0.p0.i64(ptr @x, ptr @y, i64 128, i1 false)\n  \
                store atomic i32 1, ptr @z monotonic, align 4\n  ret ptr null\n}\n\
                define ptr @reader(ptr %p) {\n  %a = load atomic i32, ptr @z monotonic, align 4\n  \
                %b = load i32, ptr @x, align 4\n  ret ptr null\n}\n\
                define i32 @main() {\n  %t = alloca i64\n  \
                %a = call i32 @pthread_create(ptr %t, ptr null, ptr @left, ptr null)\n  \
                %b = call i32 @pthread_create(ptr %t, ptr null, ptr @right, ptr null)\n  \
                %c = call i32 @pthread_create(ptr %t, ptr null, ptr @reader, ptr null)\n  ret i32 0\n}\n";
    let (code, ported) = load("calls", text.to_owned());
    let question = Question::new(Machine::X86, Machine::ArmV8);
    let found = place(&ported.program, &ported.classes, question, &Costs::default()).expect("no limit");
    let left: Vec<(usize, usize)> = found
        .after
        .faults
        .iter()
        .map(|fault| (fault.first.node, fault.second.node))
        .filter(|(first, second)| first.abs_diff(*second) > 1)
        .collect();
    assert!(!found.after.faults.is_empty() && left.is_empty(), "inside of the two calls: {:?}", found.after);
    // Everything else is repaired, and what is written says the same.
    let made = edits(&code, &ported, &found.changes).expect("all have places");
    assert!(!made.is_empty());
    let text = apply(&code, 0, &made, Machine::ArmV8, Features::default()).expect("all can be written");
    let (again, changes) = read_again("calls", &text);
    let again = check(&again.program, &again.classes, question, &changes).expect("no limit");
    assert_eq!(again.faults.len(), found.after.faults.len());
}

/// Orders of a load, a read-modify-write and a compare-and-swap, each made stronger in every way.
#[test]
fn stronger_orders() {
    let text = "@x = global i32 0\ndefine void @f() {\n  %a = load atomic i32, ptr @x monotonic, align 4\n  \
                %b = atomicrmw add ptr @x, i32 1 monotonic\n  \
                %c = cmpxchg ptr @x, i32 0, i32 1 monotonic monotonic\n  ret void\n}\n";
    let (code, _) = load("orders", text.to_owned());
    let function = code.functions().next().expect("there is one");
    let made = |wanted: &[(u32, Strength)], rcpc: bool| {
        let at = |index| Site::Before { function, block: 0, index };
        let edits: Vec<Edit> = wanted.iter().map(|&(index, to)| Edit::Strengthen(at(index), to)).collect();
        apply(&code, 0, &edits, Machine::ArmV8, Features { rcpc }).expect("all can be written")
    };
    let both = [Strength::Acquire, Strength::Release].map(|to| [(1, to), (2, to)]).concat();
    let text = made(&both, false);
    assert!(text.contains("i32 1 acq_rel\n") && text.contains("i32 1 acq_rel acquire\n"), "{text}");
    let text = made(&both[2..], false);
    assert!(text.contains("i32 1 release\n") && text.contains("i32 1 release monotonic\n"), "{text}");
    for (to, rcpc, order) in [
        (Strength::Acquire, false, "acquire"),
        (Strength::AcquirePc, true, "acquire"),
        (Strength::Acquire, true, "seq_cst"),
    ] {
        let text = made(&[(0, to)], rcpc);
        assert!(text.contains(&format!("ptr @x {order}, align")), "{text}");
    }
}

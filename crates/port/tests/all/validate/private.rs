//! Memory that only its thread knows: accesses to it are in no conflict, but a locked instruction is a fence wherever it goes,
//! and an acquire load and a release store order what stands around them.
//!
//! `m` and `n` are such memory of the one thread, `k` and `l` of the other. The analysis sees one class for all four, as the
//! front end gives it to them, which no other thread meets; to the oracle they are locations like any other.

use crate::validate::{Source, allowed, forbidden, graphs, programs, questions};
use seqcst_model::sample::Random;
use seqcst_port::place::{Costs, place};
use seqcst_port::program::{Aliases, NodeKind, Program};
use seqcst_port::robust::check;
use seqcst_testing::drawn;
use std::collections::BTreeMap;

/// A program in which one class stands for all private memory.
struct Alone<'a> {
    program: &'a Program,
    class: usize,
}

impl Aliases for Alone<'_> {
    fn may(&self, a: usize, b: usize) -> bool {
        self.program.may(a, b)
    }

    fn across(&self, a: usize, b: usize) -> bool {
        a != self.class && b != self.class && self.program.may(a, b)
    }

    fn must(&self, a: usize, b: usize) -> bool {
        a != self.class && self.program.must(a, b)
    }

    fn same(&self, a: usize, b: usize) -> bool {
        a != self.class && self.program.same(a, b)
    }
}

fn shared(random: &mut Random, x: &str, value: &mut u32) -> String {
    *value += 1;
    match random.below(2) {
        0 => format!("r = {x}.load({});", ["rlx", "rlx", "acq", "sc"][random.below(4)]),
        _ => format!("{x}.store({value}, {});", ["rlx", "rlx", "rel", "sc"][random.below(4)]),
    }
}

fn private(random: &mut Random, own: &[&str]) -> String {
    let x = own[random.below(own.len())];
    let both = ["rlx, rlx", "rlx, rlx", "acq, rlx", "rlx, rel", "acq, rel"][random.below(5)];
    match random.below(6) {
        0 => format!("s = exchange({x}, 1, {both});"),
        1 => format!("s = FADD({x}, 1, {both});"),
        // It finds what it looks for, or does not.
        2..=3 => format!("s = CAS({x}, {}, 1, {both});", ["0", "1", "r"][random.below(3)]),
        4 => format!("{x}.store(1, {});", ["rel", "sc"][random.below(2)]),
        _ => format!("s = {x}.load({});", ["acq", "sc"][random.below(2)]),
    }
}

fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut value = 0;
    let mut text = "max_value 15;\nglobal x, y, m, n, k, l;\n".to_owned();
    // Each thread goes to what the other one went to first.
    for (name, own, [a, b]) in [("t0", ["m", "n"], ["x", "y"]), ("t1", ["k", "l"], ["y", "x"])] {
        let mut body = vec![shared(&mut random, a, &mut value)];
        for _ in 0..1 + random.below(2) {
            body.push(private(&mut random, &own));
        }
        body.push(shared(&mut random, b, &mut value));
        if random.one_in(3) {
            let x = [a, b][random.below(2)];
            body.push(shared(&mut random, x, &mut value));
        }
        text += &format!("fn {name} {{\n local r, s;\n {}\n}}\n", body.join(" "));
    }
    text
}

/// Puts all private memory into one class; gives its number.
fn join(source: &mut Source) -> usize {
    let program = &mut source.program;
    let private = |name: &str| matches!(name, "m" | "n" | "k" | "l");
    let class = program.locations.iter().position(|location| private(&location.name)).expect("there is some");
    for node in program.functions.iter_mut().flat_map(|function| &mut function.nodes) {
        if let NodeKind::Access(access) = &mut node.kind
            && private(&program.locations[access.location].name)
        {
            access.location = class;
        }
    }
    class
}

/// The program without the accesses to this class.
fn without(program: &Program, class: usize) -> Program {
    let mut rest = program.clone();
    for node in rest.functions.iter_mut().flat_map(|function| &mut function.nodes) {
        if matches!(&node.kind, NodeKind::Access(access) if access.location == class) {
            node.kind = NodeKind::Nothing;
        }
    }
    rest
}

#[test]
fn memory_that_only_its_thread_knows() {
    // Robust, not robust, conservative, and wrongly robust if private memory is left out.
    let mut counts: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for seed in drawn::seeds(2 * programs()) {
        let text = program(seed);
        let mut source = Source::read(&text, "private.tpl");
        let class = join(&mut source);
        let Some(graphs) = graphs(&source, 20_000) else { continue };
        for (title, question) in questions() {
            let alone = Alone { program: &source.program, class };
            let found = place(&source.program, &alone, question, &Costs::default()).expect("no limit");
            let bad = forbidden(&source, &graphs, question);
            let wrong = allowed(&source, &bad, question, &[]);
            let robust = found.before.is_robust();
            if let Some(graph) = wrong.filter(|_| robust) {
                panic!("{title}: robust, says the analysis; but\n{text}\n{graph}");
            }
            assert!(found.after.is_robust(), "{title}: {text}");
            let left = allowed(&source, &bad, question, &found.changes);
            assert!(left.is_none(), "{title}, {:?}\n{text}\n{}", found.changes, left.unwrap());
            let rest = without(&source.program, class);
            let careless = check(&rest, &alone, question, &[]).expect("no limit").is_robust();
            let count = counts.entry(title).or_default();
            count[0] += usize::from(robust);
            count[1] += usize::from(wrong.is_some());
            count[2] += usize::from(!robust && wrong.is_none());
            count[3] += usize::from(careless && wrong.is_some());
        }
    }
    println!("robust, not robust, conservative, wrong without private memory: {counts:#?}");
    for (title, [robust, not_robust, conservative, careless]) in &counts {
        let all = robust + not_robust + conservative;
        assert!(*robust > 0 && *not_robust > 0 && conservative * 100 < 15 * all, "{title}: {counts:?}");
        // Under SC nothing is a fence, as nothing needs one.
        assert!(title.starts_with("sc") || *careless > 0, "{title}: {counts:?}");
    }
}

//! Memory that its thread has just made: pairs with accesses to it are left out, and the oracle agrees with what is left.
//!
//! `m` and `n` are such memory. Its thread goes there and elsewhere (`y`), then writes into `p` that the others may look; they do so
//! only once they have read that, in `p` or, when a third thread passes it on, in `q`.

use crate::validate::{Source, allowed, forbidden, graphs, programs, questions};
use seqcst_model::sample::Random;
use seqcst_port::place::{Costs, place};
use seqcst_port::program::{Aliases, Location, NodeKind, Program};
use seqcst_port::robust::check;
use seqcst_testing::drawn;
use std::collections::BTreeMap;

/// A program in which the first thread's accesses to some locations are to memory that it hasn't given away.
struct Hiding<'a> {
    program: &'a Program,
    /// Locations from this one on are the hidden ones.
    first: usize,
}

impl Aliases for Hiding<'_> {
    fn may(&self, a: usize, b: usize) -> bool {
        self.program.may(a, b)
    }

    fn must(&self, a: usize, b: usize) -> bool {
        self.program.must(a, b)
    }

    fn same(&self, a: usize, b: usize) -> bool {
        self.program.same(a, b)
    }

    fn hidden(&self, class: usize) -> bool {
        class >= self.first
    }
}

fn access(random: &mut Random, locations: &[&str], value: &mut u32) -> String {
    let x = locations[random.below(locations.len())];
    *value += 1;
    match random.below(8) {
        0..=2 => format!("s = {x}.load({});", ["rlx", "rlx", "acq"][random.below(3)]),
        3..=6 => format!("{x}.store({value}, {});", ["rlx", "rlx", "rel"][random.below(3)]),
        _ => format!("s = exchange({x}, {value}, rlx, rlx);"),
    }
}

fn accesses(random: &mut Random, many: usize, locations: &[&str], value: &mut u32) -> String {
    (0..many).map(|_| access(random, locations, value)).collect::<Vec<_>>().join(" ")
}

fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let random = &mut random;
    let mut value = 1;
    let before = 2 + random.below(2);
    let made = accesses(random, before, &["m", "n", "y"], &mut value);
    let order = ["rlx", "rel", "rel"][random.below(3)];
    let given = match random.below(3) {
        0 => format!("s = exchange(p, 1, rlx, {order});"),
        1 => format!("s = CAS(p, 0, 1, rlx, {order});"),
        _ => format!("p.store(1, {order});"),
    };
    let after = if random.one_in(3) { access(random, &["y"], &mut value) } else { String::new() };
    let passed = random.one_in(3);
    let found = if passed { "q" } else { "p" };
    let read = ["rlx", "acq", "acq"][random.below(3)];
    let many = if passed { 1 } else { 2 };
    let first = if random.one_in(3) { access(random, &["y"], &mut value) } else { String::new() };
    let used = accesses(random, many, &["m", "n", "y"], &mut value);
    let mut text = format!(
        "max_value 15;\nglobal m, n, y, p, q;\nfn t0 {{\n local s;\n {made} {given} {after}\n}}\n\
         fn t1 {{\n local r, s;\n {first} r = {found}.load({read}); if (r != 0) {{ {used} }}\n}}\n"
    );
    if passed {
        let used = if random.one_in(2) { access(random, &["m", "y"], &mut value) } else { String::new() };
        let order = ["rlx", "rel"][random.below(2)];
        text += &format!(
            "fn t2 {{\n local r, s;\n r = p.load({read}); if (r != 0) {{ {used} q.store(1, {order}); }}\n}}\n"
        );
    }
    text
}

/// Gives the first thread's accesses to `m` and `n` locations of their own, the same memory.
fn hide(source: &mut Source) -> usize {
    let program = &mut source.program;
    let first = program.locations.len();
    let copies: Vec<Location> = program.locations.clone();
    program.locations.extend(copies);
    for node in &mut program.functions[0].nodes {
        if let NodeKind::Access(access) = &mut node.kind
            && matches!(program.locations[access.location].name.as_str(), "m" | "n")
        {
            access.location += first;
        }
    }
    first
}

#[test]
fn memory_that_nobody_knows_of_yet() {
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for seed in drawn::seeds(2 * programs()) {
        let text = program(seed);
        let mut source = Source::read(&text, "hidden.tpl");
        let first = hide(&mut source);
        let Some(graphs) = graphs(&source, 20_000) else { continue };
        for (title, question) in questions() {
            let hiding = Hiding { program: &source.program, first };
            let found = place(&source.program, &hiding, question, &Costs::default()).expect("no limit");
            let open = check(&source.program, &source.program, question, &[]).expect("no limit");
            let bad = forbidden(&source, &graphs, question);
            let robust = found.before.is_robust();
            let wrong = robust.then(|| allowed(&source, &bad, question, &[])).flatten();
            assert!(wrong.is_none(), "{title}: robust, says the analysis; but\n{text}\n{}", wrong.unwrap());
            assert!(found.after.is_robust(), "{title}: {text}");
            let wrong = allowed(&source, &bad, question, &found.changes);
            assert!(wrong.is_none(), "{title}, {:?}\n{text}\n{}", found.changes, wrong.unwrap());
            let count = counts.entry(title).or_default();
            count[0] += usize::from(robust);
            count[1] += usize::from(!robust);
            count[2] += usize::from(found.before.faults.len() < open.faults.len());
        }
    }
    println!("robust, not robust, fewer pairs by the rule: {counts:#?}");
    for (title, [robust, not_robust, fewer]) in &counts {
        let asked = title.starts_with("sc–arm") || title.starts_with("x86–");
        assert!(*robust > 0 && (*not_robust > 0 && *fewer > 0 || !asked), "{title}: {counts:?}");
    }
}

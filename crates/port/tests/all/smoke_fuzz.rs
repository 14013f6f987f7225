//! Mutated files never make the front end panic: they are refused with an error inside the text, or can be lowered and patched.

use seqcst_model::sample::Random;
use seqcst_port::change::Change;
use seqcst_port::ir::code::{Code, File};
use seqcst_port::ir::lower::{NOWHERE, Options, lower};
use seqcst_port::ir::patch::{apply, edits};
use seqcst_port::ir::read;
use seqcst_port::ir::source::Sources;
use seqcst_port::ir::threads::{self, Thread, ThreadOrigin};
use seqcst_port::machine::{Fence, Machine};
use seqcst_port::mapping::Features;
use seqcst_port::program::{Aliases, Point};
use seqcst_testing::drawn::{cases, first};

/// Cuts a text into words, runs of blanks, and single characters.
fn tokens(text: &str) -> Vec<String> {
    let class = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => 1,
        ' ' => 2,
        _ => 0,
    };
    let mut out: Vec<String> = Vec::new();
    let mut last = 0;
    for c in text.chars() {
        match out.last_mut() {
            Some(word) if class(c) == last && last != 0 => word.push(c),
            _ => out.push(c.to_string()),
        }
        last = class(c);
    }
    out
}

const WORDS: [&str; 30] = [
    "%0",
    "@ring",
    "!6",
    "i64",
    "ptr",
    "label",
    "0",
    "-1",
    "99999999999999999999",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    "\n",
    "\"",
    "load atomic",
    "cmpxchg",
    "getelementptr",
    "call void",
    "phi",
    "to label",
    "seq_cst",
    "x",
    "switch",
    "é",
];

fn mutate(random: &mut Random, seeds: &[&str]) -> String {
    let mut words = tokens(seeds[random.below(seeds.len())]);
    for _ in 0..=random.below(4) {
        let at = random.below(words.len());
        let length = 1 + random.below(8).min(words.len() - at - 1);
        match random.below(6) {
            0 => drop(words.drain(at..at + length)),
            1 => {
                let copy = words[at..at + length].to_vec();
                let to = random.below(words.len());
                words.splice(to..to, copy);
            }
            2 => words[at] = WORDS[random.below(WORDS.len())].to_owned(),
            3 => {
                let other = tokens(seeds[random.below(seeds.len())]);
                let from = random.below(other.len());
                let piece = other[from..(from + 1 + random.below(40)).min(other.len())].to_vec();
                words.splice(at..at, piece);
            }
            4 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            _ => words[at] = words[random.below(words.len())].clone(),
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

/// Whether a text was read; panics if something is wrong with what was made of it.
fn survives(text: &str) -> bool {
    let module = match read(text) {
        Ok(module) => module,
        Err(error) => {
            assert!(error.at <= text.len(), "{}: outside the text", error.message);
            assert!(!error.message.is_empty() && error.message.len() < 500);
            let (line, column) = error.line_column(text);
            assert!(line > 0 && column > 0);
            return false;
        }
    };
    let code = Code::new(vec![File { name: "a.ll".to_owned(), text: text.to_owned(), module }]);
    let mut found = threads::find(&code);
    found.extend(code.functions().map(|function| Thread {
        function,
        origin: ThreadOrigin::Named,
        starts: None,
    }));
    for options in [Options::default(), Options { atomics_only: true, client: true, ..Options::default() }] {
        let ported = lower(&code, &found, options).expect("no limit");
        let mut changes = Vec::new();
        for (function, f) in ported.program.functions.iter().enumerate() {
            for (node, n) in f.nodes.iter().enumerate() {
                assert!(n.next.iter().all(|edge| edge.to < f.nodes.len()));
                if n.tag != NOWHERE {
                    changes.push(Change::Insert { at: Point::Before { function, node }, fence: Fence::Load });
                }
            }
        }
        for a in 0..ported.program.locations.len() {
            for b in 0..ported.program.locations.len() {
                assert_eq!(ported.classes.may(a, b), ported.classes.may(b, a), "one way only");
                assert!(!ported.classes.must(a, b) || ported.classes.may(a, b));
            }
        }
        let edits = edits(&code, &ported, &changes).expect("every node has a place");
        apply(&code, 0, &edits, Machine::ArmV8, Features::default());
        let read = |_: &str| Some("int f(void) {\n    x = 1;\n}\n".to_owned());
        let mut sources = Sources::new(&code, Features::default(), &read);
        for &edit in &edits {
            assert!(!sources.can(edit) || sources.change(edit));
        }
        sources.finish();
    }
    true
}

const SEEDS: [&str; 2] = [include_str!("../ir/old.ll"), include_str!("../ir/new.ll")];

#[test]
fn seeds_are_programs() {
    for seed in SEEDS {
        if let Err(error) = read(seed) {
            panic!("{:?}: {}", error.line_column(seed), error.message);
        }
        assert!(survives(seed));
    }
}

#[test]
fn mutated_files_do_not_panic() {
    let mut random = Random::new(0x5EED + first());
    let mut accepted = 0;
    for _ in 0..cases(3000) {
        accepted += usize::from(survives(&mutate(&mut random, &SEEDS)));
    }
    assert!(accepted > 100 || cases(3000) < 3000, "only {accepted} were read: the mutations are too wild");
}

#[test]
fn every_prefix_is_handled() {
    for seed in SEEDS {
        for end in 0..seed.len() {
            let prefix = &seed[..end];
            let whole = prefix.matches("\ndefine").count() == prefix.matches("\n}").count();
            assert!(!survives(prefix) || whole, "cut inside a function at {end}, and nobody noticed");
        }
    }
}

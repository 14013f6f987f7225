//! Mutated programs never make the front ends panic, and whatever they accept survives lowering and printing. The
//! same property as the fuzz targets in `fuzz/`, on a fixed sequence of inputs and without special tools.

use seqcst_model::Model;
use seqcst_model::sample::Random;
use seqcst_program::{lower, parse, print};
use seqcst_testing::drawn::{cases, first};

/// Cuts a source into words, runs of blanks, and single characters.
fn tokens(source: &[u8]) -> Vec<Vec<u8>> {
    let class = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => 1,
        b' ' | b'\n' | b'\t' | b'\r' => 2,
        _ => 0,
    };
    source.chunk_by(|a, b| class(*a) == class(*b) && class(*a) != 0).map(<[u8]>::to_vec).collect()
}

const WORDS: [&str; 40] = [
    "max_value",
    "global",
    "na",
    "track",
    "fn",
    "local",
    "if",
    "else",
    "while",
    "goto",
    "oneof",
    "assert",
    "fence",
    "wait",
    "CAS",
    "WCAS",
    "BCAS",
    "FADD",
    "exchange",
    "acq",
    "sc",
    "load",
    "store",
    "0",
    "65535",
    "4294967296",
    "(",
    ")",
    "{",
    "}",
    ";",
    ",",
    "-",
    "!",
    "int",
    "do",
    "&",
    "*",
    "atomic_load(x)",
    "atomic_compare_exchange_weak(x, &r1, 2)",
];

fn mutate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut tokens = tokens(&seeds[random.below(seeds.len())]);
    for _ in 0..=random.below(4) {
        let at = random.below(tokens.len());
        let length = 1 + random.below(8).min(tokens.len() - at - 1);
        match random.below(6) {
            0 => drop(tokens.drain(at..at + length)),
            1 => {
                let copy = tokens[at..at + length].to_vec();
                let to = random.below(tokens.len());
                tokens.splice(to..to, copy);
            }
            2 => tokens[at] = WORDS[random.below(WORDS.len())].as_bytes().to_vec(),
            3 => {
                let other = self::tokens(&seeds[random.below(seeds.len())]);
                let from = random.below(other.len());
                let piece = other[from..(from + 1 + random.below(30)).min(other.len())].to_vec();
                tokens.splice(at..at, piece);
            }
            4 => {
                let other = random.below(tokens.len());
                tokens.swap(at, other);
            }
            _ => {
                let byte = random.below(tokens[at].len());
                tokens[at][byte] ^= 1 << random.below(8);
            }
        }
        if tokens.is_empty() {
            break;
        }
    }
    tokens.concat()
}

/// Whether the input is a program; panics if something is wrong with what was made of it.
fn survives(source: &[u8], name: &str) -> bool {
    let parsed = match parse(source, name) {
        Ok(parsed) => parsed,
        Err(error) => {
            let span = error.span();
            assert!(
                span.start <= span.end && span.end <= source.len(),
                "{error}: {span:?} is outside the source"
            );
            assert!(!error.message().is_empty() && error.message().len() < 500);
            return false;
        }
    };
    for model in Model::WATCHED {
        lower(&parsed.program, model).expect("programs are checked against this model");
    }
    let printed = print(&parsed.program);
    let again = parse(printed.as_bytes(), "printed.tpl").unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again.program, parsed.program, "printing changed the program\n{printed}");
    true
}

#[test]
fn mutated_programs_do_not_panic() {
    let seeds: Vec<Vec<u8>> = crate::common::all_programs().into_iter().map(|(_, source)| source).collect();
    let mut random = Random::new(0x5EED + first());
    let mut accepted = 0;
    for _ in 0..cases(6000) {
        let source = mutate(&mut random, &seeds);
        accepted += usize::from(survives(&source, ""));
        survives(&source, "test.tpl");
        survives(&source, "test.litmus");
    }
    assert!(
        accepted > 100 || cases(6000) < 6000,
        "only {accepted} mutants were programs: the mutations are too wild to test anything"
    );
}

#[test]
fn every_prefix_is_handled() {
    let programs = ["tests/programs/everything.tpl", "tests/programs/everything.litmus"];
    for path in programs {
        let source = std::fs::read(path).expect("a program of this crate");
        for end in 0..source.len() {
            survives(&source[..end], path);
        }
    }
}

//! Broken libraries are refused or read, but never a panic.

use std::fs;
use std::path::Path;

use seqcst_c11::Options;
use seqcst_model::sample::Random;
use seqcst_testing::drawn::{cases, first};

/// Words that change the meaning of what stands around them.
const WORDS: [&str; 24] = [
    "*",
    "&",
    "0",
    "-1",
    "struct node *",
    "int",
    "return",
    "if (1)",
    "while",
    ";",
    ")",
    "(",
    "{",
    "}",
    "[0]",
    "break;",
    "continue;",
    "atomic_load(&",
    "static",
    "NULL",
    "->next",
    "= 1",
    "++",
    ",",
];

#[test]
fn mutated_libraries_do_no_harm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/library");
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
    names.sort();
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15 + first());
    let (mut read, mut refused) = (0, 0);
    for round in 0..cases(100) {
        let path = &names[round as usize % names.len()];
        let text = fs::read_to_string(path).unwrap();
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '(', ')', ';', ',']).collect();
        for _ in 0..=random.below(3) {
            let at = random.below(words.len());
            match random.below(3) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, WORDS[random.below(WORDS.len())]),
                _ => {
                    let near = random.below(words.len().min(at + 9));
                    words.swap(at, near);
                }
            }
        }
        let text = words.concat();
        match seqcst_c11::read("lib.c", text.as_bytes(), &Options::default()) {
            Ok(library) => {
                read += 1;
                assert!(!library.to_string().is_empty());
            }
            Err(error) => {
                refused += 1;
                assert!(!error.message.contains('\n'), "{error}");
                assert_ne!(error.message, seqcst_c11::PANICKED, "{text}");
            }
        }
    }
    assert!(read > 10 && refused > 10 || cases(100) < 100, "{read} read, {refused} refused");
}

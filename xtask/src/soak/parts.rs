//! What a soak consists of: randomised tests and fuzz targets, and how many inputs each of them gets.

use std::fmt;

/// Randomised tests, or a fuzz target.
pub struct Part {
    /// What is compared.
    pub what: &'static str,
    /// The package it is in.
    pub package: &'static str,
    /// The test binary, or the fuzz target.
    pub target: &'static str,
    /// Which of the two, and which tests.
    pub kind: Kind,
    /// What is read from outside of the packages when it runs, as git writes paths.
    pub reads: &'static [&'static str],
    /// Inputs are so many times larger than the smallest ones: so many times fewer of them.
    share: u64,
    /// Inputs at a time: a minute or two of work.
    slice: u64,
}

/// How a part is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// All tests, or those whose names contain this.
    Tests(Option<&'static str>),
    /// By libFuzzer.
    Fuzzing,
}

/// Some of a part's inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The first.
    pub seed: u64,
    /// How many.
    pub cases: u64,
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "SEQCST_SEED={} SEQCST_CASES={}", self.seed, self.cases)
    }
}

impl Part {
    /// How many inputs it gets when the smallest ones are so many.
    pub fn inputs(&self, cases: u64) -> u64 {
        match self.kind {
            Kind::Tests(_) => (cases / self.share).max(1),
            // They are small, most of them are refused at once, and a fuzzer learns by them.
            Kind::Fuzzing => 10 * cases,
        }
    }
}

const fn part(
    what: &'static str,
    (package, target): (&'static str, &'static str),
    filter: Option<&'static str>,
    (share, slice): (u64, u64),
) -> Part {
    Part { what, package, target, kind: Kind::Tests(filter), reads: &[], share, slice }
}

impl Part {
    const fn reading(self, reads: &'static [&'static str]) -> Part {
        Part { reads, ..self }
    }

    const fn fuzzing(self) -> Part {
        Part { kind: Kind::Fuzzing, ..self }
    }
}

/// The finite-state programs of the corpus.
const FINITE_STATE: &[&str] = &["corpus/algorithms", "corpus/litmus"];
/// All programs in TPL and of litmus.
const PROGRAMS: &[&str] = &["corpus/*.tpl", "corpus/*.litmus", "crates/program/tests/programs"];
/// The programs that the sanitizer must be silent about, or not.
const FOR_THE_SANITIZER: &[&str] = &[":(glob)corpus/c/*", "corpus/c/small", "corpus/rust"];

/// All of them.
pub const PARTS: [Part; 20] = [
    part("all states against the definitions", ("seqcst-check", "oracle"), None, (1, 10_000)),
    part("with and without reductions", ("seqcst-check", "reductions"), None, (1, 10_000)),
    part("schedules against all states", ("seqcst-check", "schedules"), None, (1, 10_000)),
    part("schedules replayed and minimised", ("seqcst-check", "schedules_known"), None, (1, 100_000))
        .reading(FINITE_STATE),
    part("the store buffer machine", ("seqcst-check", "store_buffer"), None, (1, 10_000)),
    part("the whole corpus under all models", ("seqcst-check", "corpus"), None, (200_000, 1))
        .reading(FINITE_STATE),
    part("dynamic monitors against their definitions", ("seqcst-monitor", "dynamic"), None, (1, 10_000)),
    part("DPOR against all schedules", ("seqcst-explore", "dpor"), None, (10, 2_000)),
    part("fingerprints of executions", ("seqcst-explore", "fingerprints"), None, (10, 2_000)),
    part("tests in process against the definitions", ("seqcst", "agreement"), None, (1, 10_000)),
    part("porting against the definitions", ("seqcst-port", "all"), Some("validate"), (10, 1_000))
        .reading(&["corpus/litmus"]),
    part("proofs of libraries against small clients", ("seqcst-library", "agree"), None, (200, 50)),
    part("silent runs of the corpus under the sanitizer", ("seqcst-cli", "corpus_c"), None, (200, 50))
        .reading(FOR_THE_SANITIZER),
    part("the sanitizer on random C programs", ("seqcst-cli", "random_c"), None, (40, 1_000)),
    part("schedules of random C programs", ("seqcst-cli", "explore"), Some("agreement"), (200, 100)),
    part("mutated programs in TPL and of litmus", ("seqcst-program", "all"), Some("smoke_fuzz"), (1, 50_000))
        .reading(PROGRAMS),
    part("mutated libraries in C", ("seqcst-c11", "c"), Some("fuzz"), (10, 5_000))
        .reading(&[":(glob)corpus/library/*"]),
    part("mutated LLVM code", ("seqcst-port", "all"), Some("smoke_fuzz"), (1, 50_000)),
    part("fuzzed programs in TPL", ("seqcst-fuzz", "tpl"), None, (1, 250_000)).reading(PROGRAMS).fuzzing(),
    part("fuzzed programs of litmus", ("seqcst-fuzz", "litmus"), None, (1, 250_000))
        .reading(PROGRAMS)
        .fuzzing(),
];

/// All slices of so many cases, in an order in which all parts make progress.
pub fn slices(cases: u64) -> Vec<(&'static Part, Slice)> {
    let mut slices = Vec::new();
    for part in &PARTS {
        let all = part.inputs(cases);
        for first in (0..all).step_by(part.slice as usize) {
            // Some tests leave out inputs that don't suit them, and take the next ones.
            let slice = Slice { seed: 10 * first, cases: part.slice.min(all - first) };
            slices.push((first * 1000 / all, part, slice));
        }
    }
    slices.sort_by_key(|&(progress, ..)| progress);
    slices.into_iter().map(|(_, part, slice)| (part, slice)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_all_of_it_and_all_parts_make_progress() {
        let all = slices(200_000);
        for part in &PARTS {
            let of_it = |slices: &[(&'static Part, Slice)]| -> u64 {
                let of_it = slices.iter().filter(|(other, _)| other.what == part.what);
                of_it.map(|(_, slice)| slice.cases).sum()
            };
            assert_eq!(of_it(&all), part.inputs(200_000), "{}", part.what);
            assert!(of_it(&all[..PARTS.len()]) > 0, "{} begins early", part.what);
        }
    }
}

//! What the tests of the engine share: random programs, the definitions as verdicts, the engine's verdicts, and the
//! loop that draws, compares, shrinks and counts.

#![allow(dead_code)] // Each test file uses its own part.

pub mod chain;
pub mod definition;
pub mod engine;
pub mod large;
pub mod sample;
pub mod schedules;
pub mod sketch;
pub mod spinning;

use seqcst_model::Model;
use seqcst_testing::drawn::seeds;
use std::fmt::Display;

/// The weak models that there are monitors for.
pub const RA: Model = Model::Ra;
pub const RC11: Model = Model::Rc11;
pub const RC20: Model = Model::Rc20;
pub const TSO: Model = Model::Tso;

/// What is said about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Robust,
    NotRobust,
    Race,
    Assertion,
    Deadlock,
    GaveUp,
}

/// A program that can be drawn and made smaller. It prints itself in TPL.
pub trait Drawn: Display + Sized {
    fn draw(seed: u64) -> Self;

    /// Programs with a little less in them.
    fn smaller(&self) -> Vec<Self>;
}

/// How often each verdict was given.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    pub robust: usize,
    pub not_robust: usize,
    pub race: usize,
    pub assertion: usize,
    pub too_big: usize,
}

impl Tally {
    fn count(&mut self, verdict: Option<Verdict>) {
        *match verdict {
            Some(Verdict::Robust) => &mut self.robust,
            Some(Verdict::NotRobust) => &mut self.not_robust,
            Some(Verdict::Race) => &mut self.race,
            Some(Verdict::Assertion) => &mut self.assertion,
            Some(Verdict::Deadlock | Verdict::GaveUp) | None => &mut self.too_big,
        } += 1;
    }

    pub fn all(&self) -> usize {
        self.robust + self.not_robust + self.race + self.assertion + self.too_big
    }

    /// The test is worth something: both verdicts came up often, and few programs were too big for brute force.
    /// Says nothing about a handful of programs.
    #[track_caller]
    pub fn assert_healthy(&self, least_not_robust: usize, most_not_robust: usize) {
        let percent = |part: usize| 100 * part / self.all().max(1);
        if self.all() < 200 {
            return;
        }
        let not_robust = percent(self.not_robust);
        assert!((least_not_robust..=most_not_robust).contains(&not_robust), "{not_robust} %: {self:?}");
        assert!(percent(self.robust) >= 25, "{self:?}");
        assert!(percent(self.too_big) <= 3, "{self:?}");
    }
}

/// Draws programs and compares. `compare` gives the verdict that all sides agree on, `None` if the program is too big,
/// and says what is wrong if they don't agree.
#[track_caller]
pub fn compare_many<P: Drawn>(
    what: &str,
    cases: u64,
    compare: impl Fn(&P) -> Result<Option<Verdict>, String>,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds(cases) {
        let program = P::draw(seed);
        match compare(&program) {
            Ok(verdict) => tally.count(verdict),
            Err(wrong) => {
                let (program, wrong) = shrink(program, wrong, &compare);
                panic!("{what}: {wrong}\n{program}\nto reproduce: SEQCST_SEED={seed} SEQCST_CASES=1");
            }
        }
    }
    println!("{what}: {tally:?}");
    tally
}

/// Takes away what is not needed for the disagreement.
fn shrink<P: Drawn>(
    mut program: P,
    mut wrong: String,
    compare: &impl Fn(&P) -> Result<Option<Verdict>, String>,
) -> (P, String) {
    loop {
        let smaller = program.smaller().into_iter().find_map(|p| Some((compare(&p).err()?, p)));
        let Some((still_wrong, smaller)) = smaller else { return (program, wrong) };
        (wrong, program) = (still_wrong, smaller);
    }
}

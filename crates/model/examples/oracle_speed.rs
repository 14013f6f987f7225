//! How long the oracle takes for a random program, per model: `cargo run --release --example oracle_speed
//! [programs]`.

use seqcst_model::Model;
use seqcst_model::oracle::{self, Verdict};
use seqcst_model::sample::RandomProgram;
use std::time::{Duration, Instant};

fn main() {
    let programs = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(20_000);
    for model in Model::ALL {
        let (mut not_robust, mut too_big) = (0, 0);
        let mut slowest = (Duration::ZERO, 0);
        let start = Instant::now();
        for seed in 0..programs {
            let began = Instant::now();
            match oracle::robust(&RandomProgram::from_seed(seed).lower(model), model, Model::Sc, 1_000_000) {
                Verdict::Robust => {}
                Verdict::NotRobust(_) => not_robust += 1,
                Verdict::TooBig => too_big += 1,
            }
            slowest = slowest.max((began.elapsed(), seed));
        }
        let each = start.elapsed() / programs.max(1) as u32;
        println!(
            "{model:6} {each:?} each, slowest {slowest:?}; not robust {not_robust}, too big {too_big} of {programs}"
        );
    }
}

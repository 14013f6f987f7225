//! How fast is the loop around the source? `cargo run --release -p seqcst-explore --example speed`.

use seqcst_explore::strategies::{Bounded, Dpor, Pct, RandomWalk};
use seqcst_explore::{
    AccessType, Choice, Kind, Limits, Op, Outcome, Plan, Player, Source, State, Strategy, Trace, explore,
};
use std::convert::Infallible;

/// Threads that make their steps and end: as little of a source as there can be.
struct Steps {
    threads: Vec<Vec<Op>>,
    at: Vec<usize>,
    player: Player,
}

impl Source for Steps {
    type Error = Infallible;

    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, Infallible> {
        self.player.start(plan);
        self.at.clear();
        self.at.resize(self.threads.len(), 0);
        for thread in 0..self.threads.len() {
            self.player.set(thread as u32, State::Ready, trace);
        }
        loop {
            match self.player.turn() {
                Choice::Go(thread) => {
                    let ops = &self.threads[thread as usize];
                    let at = &mut self.at[thread as usize];
                    self.player.did(thread, ops[*at], *at as u64, None, trace);
                    *at += 1;
                    if *at == ops.len() {
                        self.player.set(thread, State::Blocked, trace);
                    }
                }
                Choice::Redundant => {
                    trace.end = seqcst_explore::End::Redundant;
                    return Ok(Outcome::default());
                }
                _ => return Ok(Outcome::default()),
            }
        }
    }
}

/// Seconds that this thread has run, whatever else the machine does.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn measure(name: &str, threads: &[&[Op]], strategy: &mut dyn Strategy, distinct: bool) {
    let threads = threads.iter().map(|ops| ops.to_vec()).collect();
    let mut source = Steps { threads, at: Vec::new(), player: Player::default() };
    let limits = Limits { executions: 2_000_000, distinct, ..Limits::default() };
    let start = processor_time();
    let Ok(summary) = explore(&mut source, strategy, &limits, |_, _| ());
    let seconds = processor_time() - start;
    // The clock goes in steps of a few milliseconds.
    let rate = |number: u64| match seconds {
        0.02.. => format!("{:.2}", number as f64 / seconds / 1e6),
        _ => "–".to_owned(),
    };
    println!(
        "{name:<34} {:>8} executions {:>6} M/s, {:>7} M steps/s, {} distinct, {} redundant",
        summary.executions,
        rate(summary.executions),
        rate(summary.steps),
        summary.distinct,
        summary.redundant
    );
}

fn main() {
    let store = |x| Op::new(Kind::Store, AccessType::Write, x);
    let load = |x| Op::new(Kind::Load, AccessType::Read, x);
    let sb: [&[Op]; 2] = [&[store(16), load(17)], &[store(17), load(16)]];
    let counter: &[Op] = &[store(16); 8];
    let mixed: Vec<Op> = (0..4).flat_map(|i| [load(16 + i % 2), store(17 - i % 2)]).collect();
    measure("dpor, 2 × 8 stores", &[counter; 2], &mut Dpor::new(), false);
    let pairs: Vec<Op> = (0..6).flat_map(|i| [store(16 + 2 * i), load(17 + 2 * i)]).collect();
    let other_pairs: Vec<Op> = (0..6).flat_map(|i| [store(17 + 2 * i), load(16 + 2 * i)]).collect();
    measure("dpor, 6 × store buffering", &[&pairs, &other_pairs], &mut Dpor::new(), false);
    measure("dpor, 2 × 8 stores, distinct", &[counter; 2], &mut Dpor::new(), true);
    measure("dpor, 3 × 4 loads and stores", &[&mixed[..4]; 3], &mut Dpor::new(), false);
    measure("dpor, 2 × 8 loads and stores", &[&mixed[..]; 2], &mut Dpor::new(), false);
    measure("bounded, 3 × 8 stores", &[counter; 3], &mut Bounded::new(None), false);
    measure("random, store buffering", &sb, &mut RandomWalk::new(1, 2_000_000), false);
    measure("pct, store buffering", &sb, &mut Pct::new(2, 1, 2_000_000), false);
    let long: Vec<Op> = (0..10_000).map(|i| store(100 + i % 7)).collect();
    let other: Vec<Op> = (0..10_000).map(|i| store(200 + i % 7)).collect();
    measure("random, 2 × 10,000 steps", &[&long, &other], &mut RandomWalk::new(1, 200), false);
    measure("pct, 2 × 10,000 steps", &[&long, &other], &mut Pct::new(3, 1, 200), false);
    measure("bounded(1), 2 × 10,000 steps", &[&long, &other], &mut Bounded::new(Some(0)), false);
}

//! Random small libraries: what the proof calls robust is robust for every small client that the exhaustive checker looks at.

mod random;

use seqcst_library::client::{Checked, Limits, Plain, check, enumerate};
use seqcst_library::code::Library;
use seqcst_library::prove::{Options, prove};
use seqcst_library::rho;
use seqcst_library::solver::{self, Pool};
use seqcst_report::Verdict;
use seqcst_testing::drawn;
use std::time::Duration;

/// A client and what it shows against the library, if there is one.
fn refuted(library: &Library, threads: usize, calls: usize) -> Option<String> {
    let limits = Limits { states: 400_000, time: Duration::from_secs(5), ..Limits::default() };
    let is_violation = |checked: &Checked| match checked.answer.verdict {
        Verdict::NotRobust => checked.is_complete == Some(true),
        Verdict::Race => true,
        _ => false,
    };
    let clients = enumerate(library, threads, calls);
    clients.iter().take(if drawn::is_told() { 300 } else { 60 }).find_map(|client| {
        let checked = check(library, client, Plain::NonAtomic, &limits).ok()?;
        is_violation(&checked).then(|| format!("{client}\n{}", checked.program))
    })
}

#[test]
fn what_is_proved_is_robust_for_small_clients() {
    let cases = drawn::cases(12);
    let options = solver::Options { time_limit: Duration::from_secs(5), ..solver::Options::default() };
    let mut pool = Pool::new(options).expect("Z3 is installed by cargo xtask setup");
    let (mut robust, mut refuted_ones, mut open) = (0, 0, 0);
    for seed in drawn::seeds(cases) {
        let library = rho::apply(&random::library(seed)).library;
        let limit = Options { time_limit: Some(Duration::from_secs(10)), ..Options::default() };
        let outcome = prove(&library, &mut pool, &limit).expect("the solver understands all questions");
        let (threads, calls) = if library.methods.len() > 2 { (2, 2) } else { (3, 2) };
        match (outcome.is_robust(), refuted(&library, threads, calls)) {
            (true, Some(client)) => panic!("seed {seed}: proved, but not robust\n{library}\n{client}"),
            (true, None) => robust += 1,
            (false, Some(_)) => refuted_ones += 1,
            (false, None) => open += 1,
        }
    }
    println!("{robust} proved, {refuted_ones} refuted, {open} neither");
    // The test would be worth nothing if all libraries were of one kind.
    assert!(
        cases < 40 || (robust >= cases / 10 && refuted_ones >= cases / 10),
        "{robust}, {refuted_ones}, {open}"
    );
}

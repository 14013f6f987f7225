//! The command line.
use seqcst_explore::states::{self, Limits, Options};
use seqcst_monitor::finite::{Monitor, Rc20, Sc, Tso};
use seqcst_program::{Target, lower, parse, semantics::Machine};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let get = |n: &str| args.iter().position(|a| a == n).map(|i| args[i + 1].clone());
    let file = &args[2];
    let target: Target = get("--model").unwrap_or("rc20".into()).parse().unwrap();
    let source = std::fs::read(file).unwrap();
    let parsed = match parse(&source, file) {
        Ok(p) => p,
        Err(e) => {
            eprintln!("{file}: {e:?}");
            std::process::exit(2)
        }
    };
    let code = lower(&parsed.program, target);
    let summary = seqcst_explore::summarise(&code);
    let machine = Machine::new(code);
    let monitor: Box<dyn Monitor> = match target {
        Target::Sc => Box::new(Sc::new(&summary)),
        Target::Ra => Box::new(Rc20::new(&summary, false)),
        Target::Rc20 => Box::new(Rc20::new(&summary, true)),
        Target::Tso => Box::new(Tso::new(&summary)),
    };
    let start = std::time::Instant::now();
    let answer = states::check(
        &machine,
        monitor,
        &Options {
            limits: Limits { states: None, time: Some(std::time::Duration::from_secs(100)), memory: Some(8 << 30) },
            workers: get("--workers").map_or(2, |w| w.parse().unwrap()),
            symmetry: !args.iter().any(|a| a == "--no-symmetry"),
            clash: matches!(target, Target::Sc | Target::Ra),
        },
        &|_| {},
    );
    let verdict = match (&answer.found, answer.limit) {
        (Some(f), _) => match f.violation {
            states::Violation::Stale { .. } => "not-robust",
            states::Violation::Failed { .. } => "assertion",
            _ => "race",
        },
        (None, Some(_)) => "gave-up",
        (None, None) => "robust",
    };
    println!(
        "{{\"file\":{file:?},\"verdict\":\"{verdict}\",\"states\":{},\"transitions\":{},\"depth\":{},\"mem\":{},\"seconds\":{}}}",
        answer.progress.states,
        answer.transitions,
        answer.progress.depth,
        answer.progress.memory,
        start.elapsed().as_secs_f64()
    );
}

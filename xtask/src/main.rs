//! Project chores: `cargo xtask setup|demo|test|bench|studies|soak|readme`.
//!
//! * [`setup`]: what the project needs from the machine;
//! * [`demo`]: the tool from end to end, in half a minute;
//! * [`test`](mod@test): every test, one line per crate;
//! * [`bench`](mod@bench): states, seconds and memory ([`measure`]) of the algorithms in the corpus ([`corpus`]), with and
//!   without reductions, and beside the tool that this one follows ([`original`]);
//! * [`bench_run`]: the sanitizer beside ThreadSanitizer: time and memory on synthetic programs and on the case studies;
//! * [`bench_explore`]: schedules of C programs: how many, how many borderline, in what time;
//! * [`bench_models`]: tests in process beside loom and shuttle: what each of them finds, and in how many executions;
//! * [`bench_library`]: proofs of the libraries of the corpus, and what becomes of weakened copies;
//! * [`bench_port`]: fences for the programs that a paper measured, beside its figures;
//! * [`studies`]: the sanitizer on code from package registries, and on versions of it with known bugs;
//! * [`soak`]: the same tests with many more cases, and the fuzzers;
//! * [`readme`]: sample output in documents, made by running the tool.

mod bench;
mod bench_explore;
mod bench_library;
mod bench_models;
mod bench_port;
mod bench_run;
mod cargo;
mod corpus;
mod demo;
mod measure;
mod original;
mod readme;
mod saved;
mod setup;
mod soak;
mod studies;
mod table;
mod test;

use std::process::ExitCode;

/// Why a chore failed, in words for the user.
type Outcome<T = ()> = Result<T, String>;

const USAGE: &str = "\
usage: cargo xtask <chore>

  setup                                       look for the tools that the project needs, install what is missing
  demo                                        from a program that is not robust to one that is, with drawings
  test [FILTER]                               all tests, doc tests and the corpus
  bench check [--quick] [--save FILE] [--compare FILE] [FILTER]
                                              states, seconds, memory, with and without reductions
  bench run [--quick] [--save FILE] [FILTER]  the sanitizer beside ThreadSanitizer: time and memory
  bench explore [--quick] [--save FILE]       schedules, borderline ones, seconds: Sober's experiments and others
  bench models [--save FILE]                  tests in process beside loom and shuttle: what each of them finds
  bench library [--quick] [--save FILE] [FILTER]
                                              proofs of libraries, and what becomes of weakened copies of them
  bench port [--save FILE]                    fences for the programs of a paper, beside its figures
  studies [--save FILE] [NAME…]               the sanitizer on code from package registries (`bugs`: on known bugs only)
  soak [--cases N] [--fuzz-seconds N]         many more random programs, the whole corpus, the fuzzers
  readme [--check]                            renew the sample output in documents, or only look whether it is up to date
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.split_first() {
        Some((&"setup", [])) => setup::run(),
        Some((&"demo", [])) => demo::run(),
        Some((&"test", rest)) => test::run(rest),
        Some((&"bench", ["run", rest @ ..])) => bench_run::run(rest),
        Some((&"bench", ["models", rest @ ..])) => bench_models::run(rest),
        Some((&"bench", ["explore", rest @ ..])) => bench_explore::run(rest),
        Some((&"bench", ["port", rest @ ..])) => bench_port::run(rest),
        Some((&"bench", ["library", rest @ ..])) => bench_library::run(rest),
        Some((&"bench", rest)) => bench::run(rest),
        Some((&"studies", rest)) => studies::run(rest),
        Some((&"soak", rest)) => soak::run(rest),
        Some((&"readme", rest)) => readme::run(rest),
        Some((&("help" | "--help" | "-h"), _)) => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The message for arguments that a chore does not know.
fn bad_usage<T>(what: &str) -> Outcome<T> {
    Err(format!("{what}\n\n{USAGE}"))
}

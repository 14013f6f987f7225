//! Project chores; `cargo xtask` alone lists them, with their options.
//!
//! * [`setup`]: what the project needs from the machine, which [`requirements`] lists;
//! * [`demo`]: the tool from end to end, in half a minute;
//! * [`test`](mod@test): every test, one line per crate;
//! * [`bench`](mod@bench): states, seconds and memory ([`measure`]) of the algorithms in the corpus, with and
//!   without reductions, and beside the tool that this one follows ([`original`]);
//! * [`bench_run`]: the sanitizer beside ThreadSanitizer: time and memory on synthetic programs and on the case studies;
//! * [`bench_explore`]: schedules of C programs: how many, how many borderline, in what time;
//! * [`bench_models`]: tests in process beside loom and shuttle: what each of them finds, and in how many executions;
//! * [`bench_library`]: proofs of the libraries of the corpus, and what becomes of weakened copies;
//! * [`bench_port`]: fences for the programs that a paper measured, beside its figures;
//! * [`studies`]: the sanitizer on code from package registries, and on versions of it with known bugs;
//! * [`soak`]: the same tests with many more cases, in slices, and the fuzzers;
//! * [`readme`]: sample output in documents, made by running the tool.
//!
//! Results of benchmarks and studies are kept ([`saved`]) as lines of JSON, from which the documents' tables ([`table`]) are made.

#[cfg(test)]
mod architecture;
mod bench;
mod bench_explore;
mod bench_library;
mod bench_models;
mod bench_port;
mod bench_run;
mod cargo;
mod demo;
mod measure;
mod original;
mod readme;
mod requirements;
mod saved;
mod setup;
mod soak;
mod studies;
mod table;
mod test;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Why a chore failed, in words for the user.
type Outcome<T = ()> = Result<T, String>;

/// Project chores
#[derive(Parser)]
#[command(bin_name = "cargo xtask", arg_required_else_help = true, flatten_help = true)]
enum Chore {
    /// Look for the tools that the project needs, install what is missing
    Setup,
    /// From a program that is not robust to one that is, with drawings
    Demo,
    /// All tests, doc tests and the corpus
    Test(test::Options),
    /// Measure one of the commands
    #[command(subcommand)]
    Bench(Bench),
    /// The sanitizer on code from package registries
    Studies(studies::Options),
    /// Many more random programs, the whole corpus, the fuzzers
    Soak(soak::Options),
    /// Renew the sample output in documents
    Readme(readme::Options),
}

#[derive(Subcommand)]
#[command(flatten_help = true)]
enum Bench {
    /// States, seconds, memory, with and without reductions
    Check(bench::Options),
    /// The sanitizer beside ThreadSanitizer: time and memory
    Run(bench_run::Options),
    /// Schedules, borderline ones, seconds: Sober's experiments and others
    Explore(bench_explore::Options),
    /// Tests in process beside loom and shuttle: what each of them finds
    Models(saved::Save),
    /// Proofs of libraries, and what becomes of weakened copies of them
    Library(bench_library::Options),
    /// Fences for the programs of a paper, beside its figures
    Port(saved::Save),
}

impl Chore {
    /// What it is in the table of requirements; setup looks through all of that itself.
    fn requires(&self) -> Option<requirements::Chore> {
        use requirements::Chore as Of;
        Some(match self {
            Chore::Setup => return None,
            Chore::Demo => Of::Demo,
            Chore::Test(_) => Of::Test,
            Chore::Bench(Bench::Check(_)) => Of::Bench("check"),
            Chore::Bench(Bench::Run(_)) => Of::Bench("run"),
            Chore::Bench(Bench::Explore(_)) => Of::Bench("explore"),
            Chore::Bench(Bench::Models(_)) => Of::Bench("models"),
            Chore::Bench(Bench::Library(_)) => Of::Bench("library"),
            Chore::Bench(Bench::Port(_)) => Of::Bench("port"),
            Chore::Studies(_) => Of::Studies,
            Chore::Soak(_) => Of::Soak,
            Chore::Readme(_) => Of::Readme,
        })
    }

    fn run(&self) -> Outcome {
        if let Some(chore) = self.requires() {
            setup::require(chore)?;
        }
        match self {
            Chore::Setup => setup::run(),
            Chore::Demo => demo::run(),
            Chore::Test(options) => test::run(options),
            Chore::Bench(Bench::Check(options)) => bench::run(options),
            Chore::Bench(Bench::Run(options)) => bench_run::run(options),
            Chore::Bench(Bench::Explore(options)) => bench_explore::run(options),
            Chore::Bench(Bench::Models(options)) => bench_models::run(options),
            Chore::Bench(Bench::Library(options)) => bench_library::run(options),
            Chore::Bench(Bench::Port(options)) => bench_port::run(options),
            Chore::Studies(options) => studies::run(options),
            Chore::Soak(options) => soak::run(options),
            Chore::Readme(options) => readme::run(options),
        }
    }
}

fn main() -> ExitCode {
    let outcome = Chore::parse().run();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Every name in the table of requirements is a chore's.
    #[test]
    fn requirements_are_of_chores_that_are_there() {
        let command = Chore::command();
        let benches = command.find_subcommand("bench").expect("there are benchmarks");
        for tool in &requirements::TOOLS {
            for name in tool.chores().split(", ").filter_map(|name| name.strip_prefix("bench ")) {
                assert!(benches.find_subcommand(name).is_some(), "{}: {name}", tool.name);
            }
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Chore::command().debug_assert();
    }
}

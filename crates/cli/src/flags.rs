//! The command line, declared. Everything the user can say stands here, and nothing else does.

mod explore;
mod library;
mod port;

pub use explore::{ExploreFlags, StrategyName};
pub use library::LibraryFlags;
pub use port::{FromMachine, PortFlags, ToMachine};

use crate::units::{parse_duration, parse_size};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use seqcst_model::Model;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Does your program behave as if every atomic were SeqCst?
#[derive(Parser, Debug)]
#[command(name = "seqcst", version, max_term_width = 100, arg_required_else_help = true)]
#[command(long_about = "\
Does your program behave as if every atomic were SeqCst?

That is robustness: every behaviour that the memory model allows is a behaviour of sequential consistency (SC). A \
robust program can be understood, tested and checked for races under plain interleaving. One that is not gets a \
witness: a run, and the access that may see an old write.")]
#[command(after_help = EXIT_CODES)]
pub struct Flags {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Rust programs: see `cargo seqcst --help`.

Exit codes:
  0  holds: robust, no data race, no assertion fails
  1  a violation was found
  2  bad input or usage; nothing was written
  3  gave up at a limit, or at an internal error: nothing was decided";

const EXAMPLES: &str = "\
Examples:
  seqcst check peterson.tpl                      decide robustness against C11
  seqcst check --model tso peterson.tpl          the same against x86
  seqcst check --format json *.tpl               one JSON object per file, one per line
  seqcst check --svg witness.svg sb.litmus       draw the execution graph of the witness
  seqcst check --timeout 2m --max-memory 2GB big.tpl

Exit codes:
  0  holds: robust, no data race, no assertion fails
  1  a violation was found
  2  bad input or usage; nothing was written
  3  gave up at a limit, or at an internal error: nothing was decided
With several files: 2 if any input was bad, else 1 if any violation was found, else 3 if any search gave up, else 0.";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Decide robustness of finite-state programs, by visiting all of their states.
    #[command(after_help = EXAMPLES)]
    #[command(long_about = "\
Decide robustness of finite-state programs, by visiting all of their states.

All states that a program can reach under SC are visited, with a monitor that knows at every access whether the memory \
model could have done something else there. Data races on non-atomic locations and failing assertions are found on the \
way. The answer is exact, unless a limit is reached first.")]
    Check(CheckFlags),

    /// Run an instrumented program, several times if asked, and sum up what was found.
    #[command(after_help = RUN_EXAMPLES)]
    #[command(long_about = "\
Run an instrumented program, several times if asked, and sum up what was found.

The program must have been built by `seqcst cc`, `seqcst c++` or `cargo seqcst`. It is started as it would be without us; \
its reports are collected, put together by their places in the source, and counted. With several runs a report is shown \
when it is made for the first time.")]
    Run(RunFlags),

    /// Run a program under many schedules: systematically, or at random.
    #[command(after_help = explore::EXAMPLES, long_about = explore::ABOUT)]
    Explore(ExploreFlags),

    /// Is this concurrent library robust for every client?
    #[command(after_help = library::EXAMPLES, long_about = library::ABOUT)]
    Library(LibraryFlags),

    /// Is this code safe to move to a weaker machine, and which fences make it so?
    #[command(after_help = port::EXAMPLES, long_about = port::ABOUT)]
    Port(PortFlags),

    /// Compile and link C programs with a monitor in them: gcc or clang, with the same arguments.
    #[command(disable_help_flag = true, override_usage = "seqcst cc ARGS…", long_about = COMPILERS)]
    Cc(Foreign),

    /// The same for C++.
    #[command(name = "c++", disable_help_flag = true, override_usage = "seqcst c++ ARGS…", long_about = COMPILERS)]
    Cxx(Foreign),
}

const RUN_EXAMPLES: &str = "\
Examples:
  seqcst run ./server --port 0                    like ./server --port 0, with an exit code of ours
  seqcst run -n 100 ./stress                      what was found in 100 runs, and in how many of them
  seqcst run -n 1000 --until-found ./stress       until something is found
  seqcst run --format sarif -o found.sarif ./t    for editors and code hosts
  seqcst run --children make check                watch the instrumented programs that `make check` starts

Exit codes:
  0  nothing was found, and the program ended well
  1  a violation was found, or the program ended with a signal or an exit code other than 0
  2  bad usage, or not an instrumented program
  3  nothing was found, but a run was stopped by --timeout";

/// Flags of `seqcst run`.
#[derive(Args, Debug)]
pub struct RunFlags {
    /// How many times to run the program
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,

    /// Stop as soon as something is found
    #[arg(long)]
    pub until_found: bool,

    /// An option of the runtime, besides those in SEQCST_OPTIONS (help=1 lists them)
    #[arg(long = "option", value_name = "KEY=VALUE")]
    pub options: Vec<String>,

    /// Stop a run after this time: seconds (`10`, `1.5`) or with a unit (`500ms`, `2m`, `1h`)
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// The program is not instrumented itself, but starts programs that are
    #[arg(long)]
    pub children: bool,

    /// Throw away what the program prints
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,

    /// What to print: text on standard error, the others on standard output
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// Print it into this file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// The program and its arguments
    #[arg(value_name = "PROGRAM ARGS", required = true, trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

const COMPILERS: &str = "\
Compile and link C and C++ programs with a monitor in them.

`seqcst cc` is a C compiler, `seqcst c++` a C++ compiler: clang if it is installed, else gcc, with the same arguments \
and the same exit codes. What it compiles is instrumented, and the runtime is linked into executables. For build \
systems: CC=\"seqcst cc\" CXX=\"seqcst c++\", or in one word each, CC=seqcst-cc CXX=seqcst-cxx.

Run the program as always, or with `seqcst run`. What it finds is reported on standard error as it happens, and the \
exit code becomes 66. SEQCST_OPTIONS=help=1 lists what can be set.

Two flags are ours, all others are the compiler's:
  --seqcst-verbose        show the command that is run
  --seqcst-atomics-only   instrument atomic accesses only: faster, but no data races and no call stacks (clang)

Environment:
  SEQCST_CC, SEQCST_CXX   the compiler to use
  SEQCST_ATOMICS_ONLY=1   like --seqcst-atomics-only
  SEQCST_VERBOSE=1        like --seqcst-verbose
  SEQCST_NO_DEBUG=1       don't add -g, which reports need to name source lines
  SEQCST_CACHE            where the runtime is unpacked [default: ~/.cache/seqcst]

Not possible: static executables (-static), other sanitizers at the same time (but `undefined` is fine), and machines \
other than x86-64 Linux.";

/// Help for `cargo seqcst`, whose arguments are cargo's.
pub const CARGO: &str = "\
Build, test and run Rust programs with a monitor in them

Usage: cargo seqcst [OPTIONS] COMMAND ARGS…

  cargo seqcst test                 run the tests, unit, integration and documentation tests
  cargo seqcst run -- ARGS…         run the program
  cargo seqcst nextest run          any command of cargo that builds or runs something
  cargo seqcst --atomics-only bench

The program and all of its dependencies are instrumented, C and C++ in them as well; build scripts and procedural
macros are not. Everything is built for x86_64-unknown-linux-gnu in a directory of its own, target/seqcst.
What is found is reported on standard error as it happens, and the exit code of the program becomes 66.
SEQCST_OPTIONS=help=1 lists what can be set. The exit code of `cargo seqcst` is cargo's.

Options:
      --atomics-only  Instrument atomic accesses only: faster, but no data races and no call stacks
  -v, --verbose       Show how cargo is called
  -h, --help          Print help
";

/// Arguments of another program.
#[derive(Args, Debug)]
pub struct Foreign {
    /// Arguments of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub args: Vec<OsString>,
}

/// Flags of `seqcst check`.
#[derive(Args, Debug)]
pub struct CheckFlags {
    /// Programs: TPL (`.tpl`) or C litmus tests (`.litmus`); other names are told apart by their contents
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// The memory model to be robust against
    #[arg(long, value_parser = models(), default_value_t)]
    pub model: Model,

    /// Also look for deadlocks: threads that can get stuck at a `wait`, a lock or a blocking CAS for ever
    #[arg(long)]
    pub deadlock: bool,

    /// Give up after so many states
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Give up after this time, for each file: seconds (`10`, `1.5`) or with a unit (`500ms`, `2m`, `1h`)
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Give up when visited states take more memory than this (`500MB`, `2GB`, `4GiB`)
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "8GB", help_heading = "Limits")]
    pub max_memory: u64,

    /// Worker threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Search")]
    pub threads: Option<u16>,

    /// Tell interchangeable threads apart: more states, the same answer
    #[arg(long, help_heading = "Search")]
    pub no_symmetry: bool,

    /// Explore all orders of independent steps: more states, the same answer
    #[arg(long, help_heading = "Search")]
    pub no_por: bool,

    /// Keep all data from the start: more states, the same answer
    #[arg(long, help_heading = "Search")]
    pub no_abstraction: bool,

    /// Draw the witness as SVG (with one FILE only; nothing is written if there is no witness)
    #[arg(long, value_name = "OUT.svg", help_heading = "Output")]
    pub svg: Option<PathBuf>,

    /// Write the witness as a graph for Graphviz (with one FILE only; nothing is written if there is no witness)
    #[arg(long, value_name = "OUT.dot", help_heading = "Output")]
    pub dot: Option<PathBuf>,

    /// How answers are printed.
    #[command(flatten)]
    pub print: PrintFlags,
}

/// How answers are printed, for all commands that give one.
#[derive(Args, Debug)]
pub struct PrintFlags {
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,

    /// Colors in text: `auto` is for terminals, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = ColorWhen::Auto, help_heading = "Output")]
    pub color: ColorWhen,
}

/// The memory models that a program can be checked against, by name.
fn models() -> impl TypedValueParser<Value = Model> {
    let value = |model: Model| PossibleValue::new(model.name()).help(model.summary());
    PossibleValuesParser::new(Model::WATCHED.map(value)).try_map(|name| name.parse::<Model>())
}

/// What answers look like.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A report to read, with source snippets
    Text,
    /// One JSON object per input, one per line, and nothing else
    Json,
    /// A log in SARIF 2.1.0, for editors and code hosts
    Sarif,
}

/// When to use colors.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColorWhen {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn declarations_are_sound() {
        Flags::command().debug_assert();
    }
}

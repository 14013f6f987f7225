//! Flags of `seqcst explore`.

use super::{PrintFlags, models};
use crate::units::parse_duration;
use clap::{Args, ValueEnum};
use seqcst_model::Model;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub const ABOUT: &str = "\
Run a program under many schedules, one thread at a time, with the monitors on.

The program must have been built by `seqcst cc`, `seqcst c++` or `cargo seqcst`; its source need not be changed. It is \
started once, stopped before `main`, and executed again and again from there. At every atomic access and every \
synchronisation call it is decided who goes next: which schedules are tried is the strategy's choice. In each of them \
stale accesses and data races are looked for as the sanitizer does, and failed assertions, crashes, exit codes other \
than 0, deadlocks and livelocks. A failing schedule can be replayed.

Finite-state programs (.tpl, .litmus) are executed in the same way.";

pub const EXAMPLES: &str = "\
Strategies:
  bounded  all schedules with no preemption, then with 1, 2, … up to --bound: few schedules, most bugs
  dpor     all schedules up to the order of independent steps: a proof, if there is an end to it
  pct      random priorities with --depth - 1 changes: finds bugs of that depth with a probability that is known
  random   at every step any thread

Examples:
  seqcst explore ./queue                                   all schedules with up to 2 preemptions
  seqcst explore --strategy dpor ./queue                   all schedules
  seqcst explore --strategy pct --executions 50000 ./big   for programs with many steps
  seqcst explore --model tso --keep-going ./dekker         how many schedules are borderline on x86?
  seqcst explore --replay 0x7,1x3,2x5 ./queue              a schedule that was reported
  seqcst explore corpus/algorithms/seqlock.tpl             a model

Exit codes:
  0  nothing was found: the answer says in which schedules
  1  a violation was found
  2  bad usage, or not an instrumented program
  3  gave up: a limit was reached first, the program hangs, or isn't the same each time";

/// Flags of `seqcst explore`.
#[derive(Args, Debug)]
pub struct ExploreFlags {
    /// Which schedules to try [default: bounded; dpor for finite-state programs]
    #[arg(long, value_enum)]
    pub strategy: Option<StrategyName>,

    /// The most preemptions in a schedule [default: 2 for bounded, any number for dpor]
    #[arg(long, value_name = "N")]
    pub bound: Option<u32>,

    /// How many ordering constraints a bug may need, for pct
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub depth: u32,

    /// The seed of the random numbers, for pct and random
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// The memory model to be robust against; with sc only races and failures are looked for
    #[arg(long, value_parser = models(), default_value_t)]
    pub model: Model,

    /// Don't look for data races
    #[arg(long)]
    pub no_races: bool,

    /// Run without monitors: failures only, to see what the monitors cost
    #[arg(long)]
    pub no_monitor: bool,

    /// Go on when something was found, and count
    #[arg(long)]
    pub keep_going: bool,

    /// Execute this schedule only: whose turn it is, step by step (0x5,1x3), or @FILE with that in it
    #[arg(long, value_name = "TAPE", conflicts_with_all = ["strategy", "bound", "keep_going", "executions"])]
    pub replay: Option<String>,

    /// Look for a failing schedule with fewer preemptions before it is shown
    #[arg(long)]
    pub minimize: bool,

    /// Stop after so many executions [default: 10000 for pct and random]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub executions: Option<u64>,

    /// Stop after this time: seconds (`10`, `1.5`) or with a unit (`500ms`, `2m`, `1h`)
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, default_value = "5m", help_heading = "Limits")]
    pub timeout: Duration,

    /// Stop an execution after so many steps
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=16_000_000), help_heading = "Limits")]
    pub steps: u32,

    /// Stop a program that doesn't come to its next step for so long
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, default_value = "10", help_heading = "Limits")]
    pub hang: Duration,

    /// An option of the runtime, besides those in SEQCST_OPTIONS (help=1 lists them)
    #[arg(long = "option", value_name = "KEY=VALUE")]
    pub options: Vec<String>,

    /// Show what the program prints in the execution that is reported, or replayed
    #[arg(long, help_heading = "Output")]
    pub show_output: bool,

    /// Draw the witness as SVG (finite-state programs; nothing is written if there is no witness)
    #[arg(long, value_name = "OUT.svg", help_heading = "Output")]
    pub svg: Option<PathBuf>,

    /// Write the witness as a graph for Graphviz (finite-state programs; nothing is written if there is no witness)
    #[arg(long, value_name = "OUT.dot", help_heading = "Output")]
    pub dot: Option<PathBuf>,

    /// How answers are printed.
    #[command(flatten)]
    pub print: PrintFlags,

    /// A program and its arguments, or a finite-state program (.tpl, .litmus)
    #[arg(value_name = "PROGRAM ARGS", required = true, trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

/// Strategies, by name.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum StrategyName {
    /// Iterative preemption bounding
    Bounded,
    /// Dynamic partial-order reduction
    Dpor,
    /// Probabilistic concurrency testing
    Pct,
    /// Any thread at every step
    Random,
}

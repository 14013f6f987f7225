//! Flags of `seqcst library`.

use super::PrintFlags;
use crate::units::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

pub const ABOUT: &str = "\
Is this concurrent library robust for every client?

Each FILE is a library in C11: its methods are the functions that other files can call. The answer is about any number of \
threads, calls and allocated records: an induction over executions under SC, whose steps are questions to the solver Z3. \
`robust` is a proof, which says whether it is about clients of one object or of any number of them. `may be non-robust` comes with the part of an execution for which the proof fails; then clients with a few \
threads and calls are made of it and checked exhaustively, which confirms it or not.

Comments `//@ key: value` in FILE, or --spec key=value, say what the library is meant to be and what its clients promise: see \
docs/library.md.";

pub const EXAMPLES: &str = "\
Examples:
  seqcst library stack.c                                 is it robust for every client?
  seqcst library --explain stack.c                       and what does the proof need?
  seqcst library --spec one-thread=push ring.c           one thread makes all calls of push
  seqcst library --svg witness.svg ring.c                draw the counterexample to induction
  seqcst library --compose client.c stack.c queue.c      is the client robust? It needs SC fences between libraries
  seqcst library --compose client.c --fix -o fixed.c stack.c queue.c

Exit codes:
  0  robust (with --fix: the client with fences is)
  1  may be non-robust
  2  bad input or usage, or no solver; nothing was written
  3  gave up: the solver found no answer within its limits, and no client shows that the library is not robust
With several files: 2 if any input was bad, else 1 if any may be non-robust, else 3 if any was given up, else 0.";

/// Flags of `seqcst library`.
#[derive(Args, Debug)]
pub struct LibraryFlags {
    /// Libraries: C11 source
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// A term of the libraries' contract, in place of comments with the same key
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub spec: Vec<(String, String)>,

    /// Define a macro
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,

    /// Say of each class of locations which condition holds, and what the proof needs
    #[arg(long)]
    pub explain: bool,

    /// Don't look for a client that confirms what was found
    #[arg(long)]
    pub no_try: bool,

    /// Write the client that confirms what was found into this file, a program for seqcst check (with one FILE, or with --compose)
    #[arg(long, value_name = "OUT.tpl", conflicts_with_all = ["no_try", "mutants"])]
    pub keep_client: Option<PathBuf>,

    /// Look for clients with so many threads, and so many calls in each of them
    #[arg(long, value_name = "THREADS,CALLS", default_value = "3,2", value_parser = parse_bounds)]
    pub bounds: (usize, usize),

    /// Stop looking for clients after this time
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, default_value = "60")]
    pub try_time: Duration,

    /// Check a client of all FILEs: an SC fence has to stand between calls to different libraries
    #[arg(long, value_name = "CLIENT", help_heading = "Composition")]
    pub compose: Option<PathBuf>,

    /// Put missing fences into the client, and print it on standard output (reports go to standard error)
    #[arg(long, requires = "compose", help_heading = "Composition")]
    pub fix: bool,

    /// Write the client with fences into this file
    #[arg(short, long, value_name = "FILE", requires = "fix", help_heading = "Composition")]
    pub output: Option<PathBuf>,

    /// Z3, version 4.8 or later [default: SEQCST_Z3, or z3 on the search path]
    #[arg(long, value_name = "PATH", help_heading = "Solver")]
    pub solver: Option<PathBuf>,

    /// Give up a question after this time: seconds (`10`, `1.5`) or with a unit (`500ms`, `2m`)
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, default_value = "20", help_heading = "Solver")]
    pub time_limit: Duration,

    /// Give up a proof after this time, for each library
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, default_value = "120", help_heading = "Solver")]
    pub proof_limit: Duration,

    /// Questions that are worked at together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64), default_value_t = 2, help_heading = "Solver")]
    pub workers: u16,

    /// Do without a derived constraint
    #[arg(long, value_name = "CONSTRAINT", hide = true)]
    pub disable: Vec<String>,

    /// Analyse weakened copies of the libraries instead, and look for clients of all of them
    #[arg(long, hide = true, conflicts_with_all = ["compose", "svg", "dot"])]
    pub mutants: bool,

    /// Draw the counterexample of a failed proof obligation as SVG (with one FILE only; nothing is written if there is nothing)
    #[arg(long, value_name = "OUT.svg", help_heading = "Output")]
    pub svg: Option<PathBuf>,

    /// The same as a graph for Graphviz
    #[arg(long, value_name = "OUT.dot", help_heading = "Output")]
    pub dot: Option<PathBuf>,

    /// How answers are printed.
    #[command(flatten)]
    pub print: PrintFlags,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("this is not key=value".to_owned()),
    }
}

/// The largest clients that are tried: beyond that there are too many.
const MOST: usize = 8;

fn parse_bounds(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| (1..=MOST).contains(number));
    let pair = text.split_once(',').and_then(|(threads, calls)| Some((number(threads)?, number(calls)?)));
    pair.ok_or_else(|| format!("two numbers from 1 to {MOST} are needed, as in `3,2`"))
}

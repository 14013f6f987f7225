//! Flags of `seqcst port`.

use super::PrintFlags;
use crate::units::parse_duration;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub const ABOUT: &str = "\
Is this code safe to move to a weaker machine, and which fences make it so?

A program is safe to move from machine M to machine K if everything that it does on K, it could also do on M. The answer is \
static: the code of all threads is looked at as LLVM IR, and pairs of accesses are listed that M keeps in order, K does not, \
and that other threads could catch out of order. Where nothing is found, nothing can happen; what is listed may be harmless.

Inputs are LLVM IR (.ll) of clang or rustc, C and C++. The files that are named together are one program; so is a directory, with \
what is in the directories in it, and a compile_commands.json. Where several files have a `main`, each of them is a program of its \
own, with all files that have none. C and C++ are compiled with clang for the machine that the program goes to.";

pub const EXAMPLES: &str = "\
Machines: sc (everything in order), x86, armv8, armv7. What clang makes of an atomic access differs between them.

Examples:
  seqcst port queue.c                                  all six ways from a machine to a weaker one
  seqcst port --from x86 --to armv8 queue.c            is it as safe there as it was here?
  seqcst port --from x86 --to armv8 --fix queue.c      write queue.armv8.ll and queue.armv8.patch
  seqcst port --from x86 --to armv8 main.c queue.c     one program in two files
  seqcst port --client --threads push,pop stack.ll     functions that are called in any order by any thread
  seqcst port --to armv8 --rcpc queue.c                for processors since ARMv8.3, whose acquire loads are weaker
  seqcst port build/compile_commands.json -- -O2       other flags for clang

Exit codes:
  0  safe to move
  1  pairs of accesses were found that the new machine may reorder
  2  bad input or usage; nothing was written
  3  gave up at a limit, of time or size: nothing was decided";

/// Flags of `seqcst port`.
#[derive(Args, Debug)]
pub struct PortFlags {
    /// Files of a program (LLVM IR `.ll`, C, C++), directories, compile_commands.json
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// The machine that the program comes from [default: all]
    #[arg(long, value_enum, value_name = "MACHINE")]
    pub from: Option<FromMachine>,

    /// The machine that it goes to [default: all that are weaker]
    #[arg(long, value_enum, value_name = "MACHINE")]
    pub to: Option<ToMachine>,

    /// The functions that threads run [default: what is given to pthread_create, std::thread and the like]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub threads: Vec<String>,

    /// The functions are called in any order by any thread, on one object; without --threads, all that other files can call
    #[arg(long)]
    pub client: bool,

    /// Look at atomic accesses (and `volatile` ones) only: the program is taken to have no data race
    #[arg(long)]
    pub atomics_only: bool,

    /// The ARMv8 has `ldapr` (ARMv8.3, -march=…+rcpc): clang makes acquire loads of it, which may pass earlier release stores
    #[arg(long)]
    pub rcpc: bool,

    /// Dependencies order accesses on ARMv8: the compiler is taken not to lose them
    #[arg(long)]
    pub trust_dependencies: bool,

    /// Write repaired files: LLVM IR, and a patch for C and C++ (needs --from and --to)
    #[arg(long, requires = "from", requires = "to")]
    pub fix: bool,

    /// Give up after this time, for each program and each way from machine to machine, compilation included: seconds (`10`, `1.5`) or with a unit (`500ms`, `2m`)
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration, default_value = "60")]
    pub time_limit: Duration,

    /// Where repaired files go; it is made if it is not there
    #[arg(short, long, value_name = "DIR", default_value = ".", help_heading = "Output")]
    pub output: PathBuf,

    /// Draw the pairs at fault and the cycles they are on as a DOT file (needs --from and --to, one input)
    #[arg(long, value_name = "FILE", requires = "from", requires = "to", help_heading = "Output")]
    pub dot: Option<PathBuf>,

    /// Show so many pairs in text
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Output")]
    pub show: usize,

    /// How answers are printed.
    #[command(flatten)]
    pub print: PrintFlags,

    /// Arguments for clang, behind ours (-O1 -g)
    #[arg(last = true, value_name = "CLANG ARGS")]
    pub clang: Vec<OsString>,
}

/// Machines that programs come from.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FromMachine {
    /// Sequential consistency
    Sc,
    /// x86
    X86,
    /// ARMv8
    Armv8,
}

/// Machines that programs go to.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToMachine {
    /// x86
    X86,
    /// ARMv8
    Armv8,
    /// ARMv7
    Armv7,
}

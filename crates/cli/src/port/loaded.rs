//! A program, read and made ready for questions.

use super::input::{self, Program};
use crate::flags::PortFlags;
use seqcst_port::analysis::{Analysis, UserOptions};
use seqcst_port::machine::Machine;

/// A program, read and made ready.
pub struct Loaded {
    /// What the user calls it.
    pub name: String,
    /// The machine it was compiled for, if it was compiled.
    pub machine: Machine,
    /// Its code and its threads.
    pub analysis: Analysis,
}

impl Loaded {
    /// Reads a program and finds its threads.
    pub fn new(program: &Program, machine: Machine, flags: &PortFlags) -> Result<Loaded, String> {
        let read = input::load(program, machine, flags)?;
        let PortFlags { atomics_only, client, rcpc, trust_dependencies, time_limit, .. } = *flags;
        let threads = flags.threads.clone();
        let options = UserOptions { threads, atomics_only, client, rcpc, trust_dependencies, time_limit };
        let analysis = Analysis::new(read.files, read.for_host, options).map_err(|message| {
            // A file has a place, a directory has none.
            let place = if program.parts.len() == 1 { ":1:1" } else { "" };
            format!("{}{place}: error: {message}\n", program.name)
        })?;
        Ok(Loaded { name: program.name.clone(), machine, analysis })
    }
}

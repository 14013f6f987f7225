//! A program, read and made ready for questions.

use super::clang::Failed;
use super::input::{self, Program};
use crate::flags::PortFlags;
use seqcst_port::analysis::{Analysis, Compilation, UserOptions};
use seqcst_port::limit::Deadline;
use seqcst_port::machine::Machine;
use std::time::{Duration, Instant};

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
    /// Reads a program and finds its threads. So much of the time was `spent` before.
    pub fn new(
        program: &Program,
        machine: Machine,
        flags: &PortFlags,
        spent: Duration,
    ) -> Result<Loaded, String> {
        let started = Instant::now();
        let PortFlags { atomics_only, client, rcpc, trust_dependencies, time_limit, .. } = *flags;
        let threads = flags.threads.clone();
        let options = UserOptions { threads, atomics_only, client, rcpc, trust_dependencies, time_limit };
        let deadline = Deadline::after(time_limit.saturating_sub(spent));
        let read = match input::load(program, machine, flags, deadline) {
            Ok(read) => read,
            Err(Failed::Message(message)) => return Err(message),
            Err(Failed::Late) => {
                let analysis = Analysis::unread(options, spent + started.elapsed());
                return Ok(Loaded { name: program.name.clone(), machine, analysis });
            }
        };
        let compilation = Compilation { spent: spent + started.elapsed(), ..read.compilation };
        let analysis = Analysis::new(read.files, compilation, options).map_err(|message| {
            // A file has a place, several have none.
            let place = if program.parts.len() == 1 { ":1:1" } else { "" };
            format!("{}{place}: error: {message}\n", program.name)
        })?;
        Ok(Loaded { name: program.name.clone(), machine, analysis })
    }
}

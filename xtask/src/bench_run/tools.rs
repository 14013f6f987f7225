//! The ways to compile and run a program: plain, with ThreadSanitizer, with ours.

use super::rows::Sample;
use crate::Outcome;
use crate::cargo::{run as must, show};
use crate::measure::{Ended, measure};
use crate::studies::{Client, Language};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A way to compile and run programs.
pub struct Tool {
    name: &'static str,
    kind: Kind,
    /// The C compiler.
    cc: &'static str,
}

enum Kind {
    Plain,
    Tsan,
    /// The path is that of `seqcst`.
    Seqcst {
        path: PathBuf,
        atomics_only: bool,
    },
}

/// Seconds after which a run is given up.
const TIMEOUT: &str = "300";

impl Tool {
    /// All of them.
    pub fn all(seqcst: &Path) -> [Tool; 6] {
        let ours = |atomics_only| Kind::Seqcst { path: seqcst.to_owned(), atomics_only };
        [
            Tool { name: "native", kind: Kind::Plain, cc: "gcc" },
            Tool { name: "tsan-gcc", kind: Kind::Tsan, cc: "gcc" },
            Tool { name: "tsan-clang", kind: Kind::Tsan, cc: "clang-19" },
            Tool { name: "seqcst-gcc", kind: ours(false), cc: "gcc" },
            Tool { name: "seqcst-clang", kind: ours(false), cc: "clang-19" },
            Tool { name: "seqcst-atomics", kind: ours(true), cc: "clang-19" },
        ]
    }

    /// What it is called in tables.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The compiler for a language.
    fn compiler(&self, language: Language) -> &'static str {
        match (self.cc, language) {
            (cc, Language::C) => cc,
            ("gcc", Language::Cxx) => "g++",
            (_, Language::Cxx) => "clang++-19",
        }
    }

    /// Compiles and links a client.
    pub fn compile(&self, client: &Client, program: &Path) -> Outcome {
        let compiler = self.compiler(client.language);
        let mut command = match &self.kind {
            Kind::Plain => Command::new(compiler),
            Kind::Tsan => {
                let mut command = Command::new(compiler);
                command.arg("-fsanitize=thread");
                command
            }
            Kind::Seqcst { path, atomics_only } => {
                let mut command = Command::new(path);
                let (word, variable) = match client.language {
                    Language::C => ("cc", "SEQCST_CC"),
                    Language::Cxx => ("c++", "SEQCST_CXX"),
                };
                command.arg(word).env(variable, compiler);
                if *atomics_only {
                    command.arg("--seqcst-atomics-only");
                }
                command
            }
        };
        command.args(["-O2", "-g", "-w", "-pthread"]).args(&client.flags).args(&client.sources);
        command.arg("-o").arg(program).args(&client.libraries);
        must(&mut command)
    }

    /// Runs a program; what it reports is not looked at here, and not shown.
    pub fn run(&self, program: &Path, args: &[String]) -> Outcome<Sample> {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", TIMEOUT]).arg(program).args(args).stderr(Stdio::null());
        command.env("TSAN_OPTIONS", "exitcode=66:report_signal_unsafe=0");
        command.env("SEQCST_OPTIONS", "exitcode=66");
        let Ended { code, usage, .. } = measure(&mut command)?;
        match code {
            Some(code @ (0 | 66)) => Ok(Sample { usage, found: code == 66 }),
            _ => Err(format!("{}: exit code {code:?}", show(&command))),
        }
    }
}

//! `seqcst cc` and `seqcst c++`: a compiler that instruments what it compiles and links the runtime into executables.
//!
//! * [`arguments`]: what a compiler's command line asks for;
//! * [`detect`]: which compiler does the work;
//! * [`flags`]: what is added to its command line;
//! * [`runtime`]: the runtime, unpacked from this executable into files that a linker can read.
//!
//! The compiler takes this process over: output, signals and exit code are its own.

pub mod arguments;
mod detect;
pub mod flags;
pub mod runtime;

pub use detect::{Family, Language, atomics_only, compiler, is_own};

use crate::output;
use arguments::{Job, Stage};
use flags::Settings;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Becomes the compiler. Comes back only if that fails, with the reason.
pub fn run(language: Language, mut args: Vec<OsString>) -> String {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let mut ours = |flag: &str| {
        let before = args.len();
        args.retain(|word| word != flag);
        args.len() < before
    };
    let verbose = ours("--seqcst-verbose") || set("SEQCST_VERBOSE");
    let atomics_only = ours("--seqcst-atomics-only") || set("SEQCST_ATOMICS_ONLY");
    let settings = Settings { atomics_only, debug: !set("SEQCST_NO_DEBUG") };
    match command(language, &args, &settings) {
        Ok(mut command) => {
            if verbose {
                output::write_stderr(&format!("seqcst: {}\n", show(&command)));
            }
            let error = command.exec();
            format!("{}: {error}", command.get_program().to_string_lossy())
        }
        Err(message) => message,
    }
}

/// The command to run in our place.
fn command(language: Language, args: &[OsString], settings: &Settings) -> Result<Command, String> {
    let compiler = detect::compiler(language)?;
    let job = Job::new(args);
    let mut command = Command::new(&compiler.words[0]);
    command.args(&compiler.words[1..]);
    if job.stage == Stage::Question {
        command.args(args);
        return Ok(command);
    }
    flags::refuse(&job)?;
    flags::possible(compiler.family, settings)?;
    let files = runtime::files()?;
    command.args(flags::before(compiler.family, settings, &files));
    command.args(args);
    command.args(flags::after(&job, &files));
    Ok(command)
}

/// The command as one could type it.
pub fn show(command: &Command) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%^".contains(c);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

//! `seqcst`: does your program behave as if every atomic were `SeqCst`?
//!
//! * [`flags`]: what can be said on the command line, with [`units`] for durations and sizes;
//! * [`input`]: files to programs, or one message about what is wrong with them;
//! * [`check`]: `seqcst check`, from files to answers;
//! * [`compile`]: `seqcst cc` and `c++`, compilers that instrument programs;
//! * [`run`]: `seqcst run`, which runs instrumented programs and sums up;
//! * [`explore`]: `seqcst explore`, which runs programs under schedules of its own choice;
//! * [`library`]: `seqcst library`, which proves concurrent libraries robust for every client;
//! * [`port`]: `seqcst port`, which asks whether code is safe to move to a weaker machine;
//! * [`rust`]: `cargo seqcst`, which instruments Rust programs;
//! * [`output`]: standard output, files, colors; [`pictures`]: drawings of a witness; [`progress`]: the line that moves.
//!
//! Exit codes: 0 holds, 1 a violation, 2 bad input or usage, 3 gave up at a limit. An internal error is 3 as well:
//! nothing was decided. Compilers and cargo keep their own.

mod check;
mod compile;
mod explore;
mod flags;
mod input;
mod library;
mod output;
mod pictures;
mod port;
mod progress;
mod run;
mod rust;
mod units;

use clap::Parser;
use flags::{Command, Flags};
use seqcst_report::Status;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(internal_error));
    if let Some(status) = foreign() {
        return ExitCode::from(status.code());
    }
    let status = match Flags::parse().command {
        Command::Check(flags) => check::run(&flags),
        Command::Run(flags) => run::run(&flags),
        Command::Explore(flags) => explore::run(&flags),
        Command::Library(flags) => library::run(&flags),
        Command::Port(flags) => port::run(&flags),
        // Only with flags before the command, which is no way to call a compiler.
        Command::Cc(_) | Command::Cxx(_) => Status::BadInput,
    };
    // An exit code alone is no answer: a script would take an empty file for one.
    ExitCode::from(if output::is_lost() { Status::GaveUp } else { status }.code())
}

/// Commands whose arguments belong to somebody else, every single one.
fn foreign() -> Option<Status> {
    let mut args = std::env::args_os().skip(1);
    let name = args.next()?;
    let message = match name.to_str()? {
        "cc" => compile::run(compile::Language::C, args.collect()),
        "c++" => compile::run(compile::Language::Cxx, args.collect()),
        "link" => rust::link::run(args.collect()),
        "cargo" => match rust::run(args.collect(), flags::CARGO) {
            Some(message) => message,
            None => return Some(Status::Holds),
        },
        _ => return None,
    };
    output::write_stderr(&format!("seqcst: error: {message}\n"));
    Some(Status::BadInput)
}

/// A panic is a bug of ours: one line about it, in place of a trace. Nothing is said of one that is caught on purpose.
fn internal_error(panic: &PanicHookInfo) {
    if seqcst_model::panics::is_caught() {
        return;
    }
    let payload = panic.payload();
    let message = payload.downcast_ref::<&str>().map(|s| s.to_string());
    let message = message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    let place = panic.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
    let message = message.replace(['\n', '\r'], " ");
    output::write_stderr(&format!(
        "internal error: {message}{place}; this is a bug in seqcst, please report it\n"
    ));
    std::process::exit(i32::from(Status::GaveUp.code()));
}

#[cfg(test)]
mod tests {
    use super::internal_error;
    use seqcst_model::panics;

    /// If the hook didn't know, this would end the process.
    #[test]
    fn panics_that_are_caught_are_no_internal_errors() {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(internal_error));
        let caught = panics::catch(|| panic!("by a solver")).is_none();
        std::panic::set_hook(usual);
        assert!(caught);
    }
}

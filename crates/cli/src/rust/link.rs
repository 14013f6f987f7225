//! The linker that rustc calls under `cargo seqcst`: the user's own, with the runtime added to executables.

use super::slow_paths;
use crate::compile::{arguments::Job, flags, is_own, runtime, show};
use crate::output;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Becomes the linker. Comes back only if that fails, with the reason.
pub fn run(args: Vec<OsString>) -> String {
    let mut command = match command(&args) {
        Ok(command) => command,
        Err(message) => return message,
    };
    if std::env::var_os("SEQCST_VERBOSE").is_some() {
        output::write_stderr(&format!("seqcst: {}\n", show(&command)));
    }
    let error = command.exec();
    format!("{}: {error}", command.get_program().to_string_lossy())
}

fn command(args: &[OsString]) -> Result<Command, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let linker = variable("SEQCST_LINKER").unwrap_or_else(|| "cc".into());
    if is_own(Path::new(&linker)) {
        return Err(
            "SEQCST_LINKER names seqcst itself: it must name the linker that does the work".to_owned()
        );
    }
    let mut command = Command::new(linker);
    let job = Job::new(args);
    flags::refuse(&job)?;
    let files = runtime::files()?;
    command.args(args);
    if let Some(folder) = variable("SEQCST_SLOW_PATHS").map(PathBuf::from) {
        command.args(slow_paths::flags(&folder, job.stage)?);
    }
    command.args(flags::after(&job, &files));
    Ok(command)
}

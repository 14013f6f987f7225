//! What the small executables beside `seqcst` do: they call it with a command in front of their own arguments.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Becomes `seqcst COMMAND ARGS…`: the `seqcst` in the same directory, or else the one in `PATH`.
pub fn seqcst(command: &str) -> ExitCode {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| own.parent().map(|folder| folder.join("seqcst")));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| "seqcst".into());
    let error = Command::new(&program).arg(command).args(std::env::args_os().skip(1)).exec();
    eprintln!("{}: {error}: it must be installed beside this program, or be in PATH", program.display());
    ExitCode::from(2)
}

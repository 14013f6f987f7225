//! Files and flags to what `seqcst_library` wants.

use crate::flags::LibraryFlags;
use seqcst_library::c::{self, Error};
use seqcst_library::client::Bounds;
use seqcst_library::prove::{self, Constraint};
use seqcst_library::verify::{Options, Subject};
use std::fs;
use std::path::Path;

/// Reads a library.
pub fn subject(path: &Path, flags: &LibraryFlags) -> Result<Subject, String> {
    let (name, text) = read(path)?;
    let options = c::Options { contract: flags.spec.clone(), definitions: flags.define.clone() };
    Subject::read(name, text, &options).map_err(|error| complaint(&error))
}

/// Which clients to look for.
pub fn bounds(flags: &LibraryFlags) -> Option<Bounds> {
    let (threads, calls) = flags.bounds;
    (!flags.no_try).then(|| Bounds { threads, calls, time: flags.try_time, ..Bounds::default() })
}

/// How to verify.
pub fn options(flags: &LibraryFlags) -> Result<Options, String> {
    let disabled = flags.disable.iter().map(|name| constraint(name)).collect::<Result<Vec<_>, _>>()?;
    let proof = prove::Options { disabled, time_limit: Some(flags.proof_limit) };
    Ok(Options { proof, clients: bounds(flags), is_proof_complete: flags.explain })
}

fn constraint(name: &str) -> Result<Constraint, String> {
    Constraint::named(name).ok_or_else(|| {
        let names: Vec<&str> = Constraint::ALL.iter().map(|constraint| constraint.name()).collect();
        format!("error: there is no constraint `{name}`; there are {}\n", names.join(", "))
    })
}

/// More is no library.
const LARGEST: u64 = 4 << 20;

/// A file's name and contents.
pub fn read(path: &Path) -> Result<(String, Vec<u8>), String> {
    let name: String =
        path.display().to_string().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let why = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{name}: error: no such file\n"),
        std::io::ErrorKind::PermissionDenied => format!("{name}: error: permission denied\n"),
        _ => format!("{name}: error: {error}\n"),
    };
    let metadata = fs::metadata(path).map_err(why)?;
    if metadata.is_dir() {
        return Err(format!("{name}: error: this is a directory; name the files in it\n"));
    }
    if metadata.len() > LARGEST {
        return Err(format!("{name}: error: larger than {} MB\n", LARGEST >> 20));
    }
    let text = fs::read(path).map_err(why)?;
    Ok((name, text))
}

/// `file:line:column: error: …`
pub fn complaint(error: &Error) -> String {
    match error.line {
        0 => format!("{}: error: {}\n", error.file, error.message),
        _ => format!("{}:{}:{}: error: {}\n", error.file, error.line, error.column, error.message),
    }
}

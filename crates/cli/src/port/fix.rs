//! Repaired files: LLVM IR, and a patch for C and C++ that was compiled and asked about again.

use super::answer::{Answer, Loaded};
use super::input::{self, Program};
use crate::flags::PortFlags;
use crate::output::Target;
use seqcst_port::ir::{patch, source};
use std::path::{Path, PathBuf};

/// What was written.
#[derive(Default)]
pub struct Written {
    /// The files.
    pub files: Vec<String>,
    /// What to say about them.
    pub remarks: Vec<String>,
}

/// Writes what makes a program safe to move.
pub fn write(
    program: &Program,
    loaded: &Loaded,
    answer: &Answer,
    flags: &PortFlags,
) -> Result<Written, String> {
    let mut written = Written::default();
    if !answer.placement.in_time {
        written.remarks.push("nothing was written: there was no time to find a repair".to_owned());
        return Ok(written);
    }
    if answer.edits.is_empty() {
        return Ok(written);
    }
    let machine = answer.to.name();
    for (number, part) in program.parts.iter().enumerate() {
        let number = number as u32;
        if !answer.edits.iter().any(|edit| edit.file() == number) {
            continue;
        }
        let name = part.path();
        let Some(text) = patch::apply(&loaded.code, number, &answer.edits, answer.to, answer.features) else {
            written.remarks.push(format!("{}: a change has no place in the text", name.display()));
            continue;
        };
        save(&mut written, flags, name, &format!("{machine}.ll"), &text)?;
    }
    if input::is_source(program) {
        patch_source(&mut written, program, loaded, answer, flags)?;
    }
    Ok(written)
}

fn save(written: &mut Written, flags: &PortFlags, of: &Path, ending: &str, text: &str) -> Result<(), String> {
    let stem = of.file_stem().unwrap_or_default().to_string_lossy();
    let target = Target::new(&flags.output.join(format!("{stem}.{ending}")))?;
    target.write(text)?;
    written.files.push(target.name.display().to_string());
    Ok(())
}

/// A patch for the source, if the changed source is what it should be.
fn patch_source(
    written: &mut Written,
    program: &Program,
    loaded: &Loaded,
    answer: &Answer,
    flags: &PortFlags,
) -> Result<(), String> {
    let changed = source::change(&loaded.code, &answer.edits, answer.features, &|name| {
        std::fs::read_to_string(name).ok()
    });
    for &edit in &changed.left {
        let place =
            loaded.place(edit).map_or(String::new(), |place| format!("{}:{}: ", place.file, place.line));
        written.remarks.push(format!("{place}no way to write this in the source; see the repaired LLVM IR"));
    }
    if changed.files.is_empty() {
        return Ok(());
    }
    let left = remaining(program, answer, flags, &changed.files);
    match left {
        Ok(0) => {}
        Ok(left) => {
            let message =
                format!("the patch for the source leaves {left} pairs; the repaired LLVM IR leaves none");
            written.remarks.push(message);
        }
        Err(message) => {
            written.remarks.push(format!(
                "no patch for the source: it could not be looked at again ({})",
                message.trim()
            ));
            return Ok(());
        }
    }
    let here = std::env::current_dir().unwrap_or_default();
    let patch: String = changed
        .files
        .iter()
        .map(|(name, old, new)| {
            let short =
                Path::new(name).strip_prefix(&here).unwrap_or(Path::new(name.trim_start_matches('/')));
            source::diff(&short.display().to_string(), old, new)
        })
        .collect();
    let first = program.parts.first().map_or(Path::new("program"), |part| part.path());
    let of = if program.parts.len() == 1 { first } else { Path::new("program") };
    save(written, flags, of, &format!("{}.patch", answer.to.name()), &patch)
}

/// How many pairs the changed source still has at fault. It is compiled beside the original, under another name.
fn remaining(
    program: &Program,
    answer: &Answer,
    flags: &PortFlags,
    files: &[(String, String, String)],
) -> Result<usize, String> {
    let folder = Scratch::new()?;
    let mut changed: Vec<(PathBuf, PathBuf)> = Vec::new();
    for (number, (name, _, new)) in files.iter().enumerate() {
        let base = Path::new(name).file_name().unwrap_or_default();
        let path = folder.0.join(format!("{number}-{}", base.to_string_lossy()));
        std::fs::write(&path, new).map_err(|error| error.to_string())?;
        changed.push((PathBuf::from(name), path));
    }
    let full = |path: &Path| path.canonicalize().unwrap_or(path.to_owned());
    let with =
        |path: &Path| changed.iter().find(|(old, _)| full(old) == full(path)).map(|(_, new)| new.clone());
    if !changed.iter().all(|(old, _)| program.parts.iter().any(|part| full(part.path()) == full(old))) {
        return Err("a header would have to be changed".to_owned());
    }
    let again = Loaded::new(&input::replaced(program, &with), answer.to, flags)?;
    let again = again.ask(answer.from, answer.to);
    match again.gave_up {
        Some(why) => Err(format!("gave up {why}")),
        None => Ok(again.placement.before.faults.len()),
    }
}

/// A directory that is gone in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("seqcst-port-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: error: {error}\n", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

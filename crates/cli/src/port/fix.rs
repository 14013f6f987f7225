//! Repaired files: LLVM IR, and a patch for C and C++ ([`super::rounds`]).

use super::input::{self, Program};
use super::loaded::Loaded;
use super::rounds;
use crate::flags::PortFlags;
use crate::output::Target;
use seqcst_port::analysis::Found;
use seqcst_port::ir::{patch, source};
use seqcst_report::answer::SourcePatch;
use seqcst_report::{Answer, Details};
use std::path::Path;

/// Output files.
#[derive(Default)]
pub struct Written {
    /// The files and what is in them.
    pub files: Vec<(Target, String)>,
    /// What to say about them.
    pub remarks: Vec<String>,
    /// Patch result, if there is a source to be changed.
    pub patch: Option<SourcePatch>,
}

impl Written {
    /// Tells of them in an answer.
    pub fn describe(&self, answer: &mut Answer) {
        let Details::Port(ported) = &mut answer.details else { return };
        ported.written = self.files.iter().map(|(target, _)| target.name.display().to_string()).collect();
        ported.remarks.clone_from(&self.remarks);
        ported.source_patch.clone_from(&self.patch);
    }

    /// Writes them.
    pub fn write(&self) -> Result<(), String> {
        self.files.iter().try_for_each(|(target, text)| target.write(text))
    }

    fn save(&mut self, flags: &PortFlags, of: &Path, ending: &str, text: String) -> Result<(), String> {
        let stem = of.file_stem().unwrap_or_default().to_string_lossy();
        let target = Target::new(&flags.output.join(format!("{stem}.{ending}")))?;
        self.files.push((target, text));
        Ok(())
    }
}

/// Makes what makes a program safe to move.
pub fn make(program: &Program, loaded: &Loaded, found: &Found, flags: &PortFlags) -> Result<Written, String> {
    let mut written = Written::default();
    if !found.placement.in_time {
        written.remarks.push("nothing was written: there was no time to find a repair".to_owned());
        return Ok(written);
    }
    if found.edits.is_empty() {
        return Ok(written);
    }
    ir(&mut written, program, loaded, found, flags)?;
    if input::is_source(program) {
        patch_source(&mut written, program, loaded, found, flags)?;
    }
    Ok(written)
}

/// Repaired LLVM IR. Fences are instructions of the new machine: code for another one can't have them.
fn ir(
    written: &mut Written,
    program: &Program,
    loaded: &Loaded,
    found: &Found,
    flags: &PortFlags,
) -> Result<(), String> {
    let to = found.to;
    if let Some((file, other)) = loaded.analysis.for_others(to).next() {
        if !input::is_source(program) {
            let place = input::where_it_says(&file.name, &file.module.triple, &file.text);
            let message =
                format!("this was compiled for {other}: to be repaired for {to}, compile it for {to}");
            return Err(format!("{place}: error: {message}\n"));
        }
        written.remarks.push(format!("no repaired LLVM IR: the code was compiled for {other}, not for {to}"));
        return Ok(());
    }
    for (number, part) in program.parts.iter().enumerate() {
        let number = number as u32;
        if !found.edits.iter().any(|edit| edit.file() == number) {
            continue;
        }
        let name = part.path();
        let Some(text) = patch::apply(&loaded.analysis.code, number, &found.edits, to, found.features) else {
            written.remarks.push(format!("{}: a change has no place in the text", name.display()));
            continue;
        };
        written.save(flags, name, &format!("{}.ll", to.name()), text)?;
    }
    Ok(())
}

/// A patch for the source, and how good it is.
fn patch_source(
    written: &mut Written,
    program: &Program,
    loaded: &Loaded,
    found: &Found,
    flags: &PortFlags,
) -> Result<(), String> {
    let changed = match rounds::change(program, loaded, found, flags) {
        Ok(changed) => changed,
        Err(why) => {
            written.remarks.push(format!("no patch for the source: {why}"));
            written.patch = Some(SourcePatch { written: false, pairs_left: None, why: Some(why) });
            return Ok(());
        }
    };
    let pairs_left = changed.pairs_left;
    if pairs_left > 0 {
        let pairs = |number: usize| if number == 1 { "1 pair".to_owned() } else { format!("{number} pairs") };
        let better = found.placement.after.faults.len();
        written.remarks.push(format!(
            "the patch for the source leaves {}; the repaired LLVM IR leaves {}",
            pairs(pairs_left),
            if better == 0 { "none".to_owned() } else { pairs(better) }
        ));
    }
    let here = std::env::current_dir().unwrap_or_default();
    let text: String = changed
        .files
        .iter()
        .map(|(name, old, new)| {
            let name = name.strip_prefix(&here).unwrap_or(name).display().to_string();
            source::diff(name.trim_start_matches('/'), old, new)
        })
        .collect();
    let first = program.parts.first().map_or(Path::new("program"), |part| part.path());
    let of = if program.parts.len() == 1 { first } else { Path::new("program") };
    written.patch = Some(SourcePatch { written: true, pairs_left: Some(pairs_left), why: None });
    written.save(flags, of, &format!("{}.patch", found.to.name()), text)
}

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
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Output files.
#[derive(Default)]
pub struct Written {
    /// The files and what is in them.
    files: Vec<(PathBuf, String)>,
    /// What to say about them.
    remarks: Vec<String>,
    /// Patch result, if there is a source to be changed.
    patch: Option<SourcePatch>,
}

/// Where repaired files go: made when there is something to write, if it is not there.
pub struct Folder<'a> {
    path: &'a Path,
    /// Names that were given to files: those of one program may lie in several directories, and be called the same.
    taken: BTreeSet<PathBuf>,
}

impl<'a> Folder<'a> {
    /// Looks early whether it can be had.
    pub fn new(path: &'a Path) -> Result<Folder<'a>, String> {
        match path.ancestors().find(|above| above.exists()) {
            Some(above) if !above.is_dir() => {
                Err(format!("{}: error: {} is no directory\n", path.display(), above.display()))
            }
            _ => Ok(Folder { path, taken: BTreeSet::new() }),
        }
    }

    /// A name in it that no other file has got.
    fn name(&mut self, of: &Path, ending: &str) -> PathBuf {
        let stem = of.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let numbered = (2..).map(|number| format!("{stem}.{number}.{ending}"));
        let names = std::iter::once(format!("{stem}.{ending}")).chain(numbered);
        let paths = names.map(|name| self.path.join(name));
        let free = paths.into_iter().find(|path| !self.taken.contains(path)).unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }
}

impl Written {
    /// Tells of them in an answer.
    pub fn describe(&self, answer: &mut Answer) {
        let Details::Port(ported) = &mut answer.details else { return };
        ported.written = self.files.iter().map(|(path, _)| path.display().to_string()).collect();
        ported.remarks.clone_from(&self.remarks);
        ported.source_patch.clone_from(&self.patch);
    }

    /// Writes them.
    pub fn write(&self) -> Result<(), String> {
        for (path, text) in &self.files {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder {
                let made = std::fs::create_dir_all(folder);
                made.map_err(|error| format!("{}: error: cannot be made: {error}\n", folder.display()))?;
            }
            Target::new(path)?.write(text)?;
        }
        Ok(())
    }

    fn save(&mut self, folder: &mut Folder, of: &Path, ending: &str, text: String) -> Result<(), String> {
        let path = folder.name(of, ending);
        // Before anything is written.
        if folder.path.is_dir() {
            Target::new(&path)?;
        }
        self.files.push((path, text));
        Ok(())
    }
}

/// Makes what makes a program safe to move.
pub fn make(
    program: &Program,
    loaded: &Loaded,
    found: &Found,
    flags: &PortFlags,
    folder: &mut Folder,
) -> Result<Written, String> {
    let mut written = Written::default();
    if !found.placement.in_time {
        written.remarks.push("nothing was written: there was no time to find a repair".to_owned());
        return Ok(written);
    }
    if found.edits.is_empty() {
        return Ok(written);
    }
    ir(&mut written, program, loaded, found, folder)?;
    if input::is_source(program) {
        patch_source(&mut written, program, loaded, found, flags, folder)?;
    }
    Ok(written)
}

/// Repaired LLVM IR. Fences are instructions of the new machine: code for another one can't have them.
fn ir(
    written: &mut Written,
    program: &Program,
    loaded: &Loaded,
    found: &Found,
    folder: &mut Folder,
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
        written.save(folder, name, &format!("{}.ll", to.name()), text)?;
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
    folder: &mut Folder,
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
    written.save(folder, of, &format!("{}.patch", found.to.name()), text)
}

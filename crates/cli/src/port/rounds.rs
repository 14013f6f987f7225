//! Changes in the source, round by round: a changed source is compiled and asked about again.
//!
//! What is one instruction in LLVM IR may have no place of its own in the source. So what a round leaves open is for the next
//! one, which starts from the source that the last one left.

use super::input::{self, Part, Program};
use super::loaded::Loaded;
use crate::flags::PortFlags;
use seqcst_port::analysis::Found;
use seqcst_port::ir::patch::Edit;
use seqcst_port::ir::source::Sources;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A source that was changed.
pub struct Changed {
    /// Files, what is in them and what should be.
    pub files: Vec<(PathBuf, String, String)>,
    /// How many pairs are at fault then.
    pub pairs_left: usize,
}

/// More rounds bring little.
const ROUNDS: usize = 6;

/// The changed source with the fewest pairs at fault. If there is none with fewer than before, says why.
///
/// Of the changes that make a program safe only those are asked for that can be written in the source.
pub fn change(
    program: &Program,
    loaded: &Loaded,
    first: &Found,
    flags: &PortFlags,
) -> Result<Changed, String> {
    let mut files = SourceFiles::new(program)?;
    let mut best: Option<Changed> = None;
    let mut why = "no change in it orders any of the pairs".to_owned();
    let mut again: Option<Loaded> = None;
    let started = Instant::now();
    // All rounds have to do with what the first look has left of the time.
    let spent = || first.took + started.elapsed();
    for _ in 0..ROUNDS {
        let now = again.as_ref().unwrap_or(loaded);
        let read = |name: &str| files.text(Path::new(name));
        let sources = RefCell::new(Sources::new(&now.analysis.code, first.features, &read));
        let known = RefCell::new(BTreeMap::new());
        let allowed =
            |edit: Edit| *known.borrow_mut().entry(edit).or_insert_with(|| sources.borrow_mut().can(edit));
        let found =
            now.analysis.ask(first.from, first.to, spent().saturating_sub(now.analysis.took()), &allowed);
        if let Some(reason) = &found.gave_up {
            why = format!("looking at it again gave up {reason}");
            break;
        }
        let pairs_left = found.placement.before.faults.len();
        let most = best.as_ref().map_or(first.placement.before.faults.len(), |best| best.pairs_left);
        if pairs_left < most {
            best = Some(Changed { files: files.changed(), pairs_left });
        }
        let mut sources = sources.into_inner();
        for &edit in &found.edits {
            sources.change(edit);
        }
        let changed = sources.finish();
        if pairs_left == 0 || changed.is_empty() {
            break;
        }
        files.put(changed)?;
        match Loaded::new(&input::replaced(program, &|path| files.at(path)), first.to, flags, spent()) {
            Ok(now) => again = Some(now),
            Err(message) => {
                why = format!("with the changes it does not compile ({})", message.trim());
                break;
            }
        }
    }
    best.ok_or(why)
}

/// The sources of a program. What is changed lies in a directory of its own, which is gone in the end.
struct SourceFiles {
    folder: PathBuf,
    all: Vec<SourceFile>,
}

struct SourceFile {
    original: PathBuf,
    changed: PathBuf,
    old: String,
    new: String,
}

impl SourceFiles {
    fn new(program: &Program) -> Result<SourceFiles, String> {
        let folder = std::env::temp_dir().join(format!("seqcst-port-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut files = SourceFiles { folder: full(&folder), all: Vec::new() };
        let sources = program.parts.iter().filter(|part| matches!(part, Part::Source(_)));
        for (number, part) in sources.enumerate() {
            let original = full(part.path());
            let base = original.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let changed = files.folder.join(format!("{number}-{base}"));
            let text = fs::read_to_string(&original);
            let old = text.map_err(|error| format!("{}: {error}", original.display()))?;
            files.all.push(SourceFile { new: old.clone(), old, original, changed });
        }
        Ok(files)
    }

    /// The text of a source as it is now. Headers belong to others, too: they are not changed.
    fn text(&self, path: &Path) -> Option<String> {
        let path = full(path);
        let found = self.all.iter().find(|file| file.changed == path || file.original == path);
        found.map(|file| file.new.clone())
    }

    /// Takes in changed files.
    fn put(&mut self, files: Vec<(String, String, String)>) -> Result<(), String> {
        for (name, _, new) in files {
            let path = full(Path::new(&name));
            let of = |file: &&mut SourceFile| file.changed == path || file.original == path;
            if let Some(file) = self.all.iter_mut().find(of) {
                fs::write(&file.changed, &new).map_err(|error| error.to_string())?;
                file.new = new;
            }
        }
        Ok(())
    }

    /// Where the changed form of a source is, if it was changed.
    fn at(&self, path: &Path) -> Option<PathBuf> {
        let path = full(path);
        let found = self.all.iter().find(|file| file.original == path && file.new != file.old);
        found.map(|file| file.changed.clone())
    }

    fn changed(&self) -> Vec<(PathBuf, String, String)> {
        let changed = self.all.iter().filter(|file| file.new != file.old);
        changed.map(|file| (file.original.clone(), file.old.clone(), file.new.clone())).collect()
    }
}

impl Drop for SourceFiles {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn full(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or(path.to_owned())
}

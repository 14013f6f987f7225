//! Changes in the source, round by round: a changed source is compiled and asked about again.
//!
//! What is one instruction in LLVM IR may have no place of its own in the source. So what a round leaves open is for the next
//! one, which starts from the source that the last one left.

use super::answer::{Answer, Loaded};
use super::input::{self, Part, Program};
use crate::flags::PortFlags;
use seqcst_port::ir::patch::Edit;
use seqcst_port::ir::source::Sources;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

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
    answer: &Answer,
    flags: &PortFlags,
) -> Result<Changed, String> {
    let mut sheets = Sheets::new(program)?;
    let mut best: Option<Changed> = None;
    let mut why = "no change in it orders any of the pairs".to_owned();
    let mut again: Option<Loaded> = None;
    for _ in 0..ROUNDS {
        let now = again.as_ref().unwrap_or(loaded);
        let read = |name: &str| sheets.text(Path::new(name));
        let sources = RefCell::new(Sources::new(&now.code, answer.features, &read));
        let known = RefCell::new(BTreeMap::new());
        let allowed =
            |edit: Edit| *known.borrow_mut().entry(edit).or_insert_with(|| sources.borrow_mut().can(edit));
        let found = now.ask_with(answer.from, answer.to, &allowed);
        if let Some(reason) = &found.gave_up {
            why = format!("looking at it again gave up {reason}");
            break;
        }
        let pairs_left = found.placement.before.faults.len();
        let most = best.as_ref().map_or(answer.placement.before.faults.len(), |best| best.pairs_left);
        if pairs_left < most {
            best = Some(Changed { files: sheets.changed(), pairs_left });
        }
        let mut sources = sources.into_inner();
        for &edit in &found.edits {
            sources.change(edit);
        }
        let files = sources.finish();
        if pairs_left == 0 || files.is_empty() {
            break;
        }
        sheets.put(files)?;
        match Loaded::new(&input::replaced(program, &|path| sheets.at(path)), answer.to, flags) {
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
struct Sheets {
    folder: PathBuf,
    all: Vec<Sheet>,
}

struct Sheet {
    original: PathBuf,
    changed: PathBuf,
    old: String,
    new: String,
}

impl Sheets {
    fn new(program: &Program) -> Result<Sheets, String> {
        let folder = std::env::temp_dir().join(format!("seqcst-port-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut sheets = Sheets { folder: full(&folder), all: Vec::new() };
        let sources = program.parts.iter().filter(|part| matches!(part, Part::Source(_)));
        for (number, part) in sources.enumerate() {
            let original = full(part.path());
            let base = original.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let changed = sheets.folder.join(format!("{number}-{base}"));
            let text = fs::read_to_string(&original);
            let old = text.map_err(|error| format!("{}: {error}", original.display()))?;
            sheets.all.push(Sheet { new: old.clone(), old, original, changed });
        }
        Ok(sheets)
    }

    /// The text of a source as it is now. Headers belong to others, too: they are not changed.
    fn text(&self, path: &Path) -> Option<String> {
        let path = full(path);
        let found = self.all.iter().find(|sheet| sheet.changed == path || sheet.original == path);
        found.map(|sheet| sheet.new.clone())
    }

    /// Takes in changed files.
    fn put(&mut self, files: Vec<(String, String, String)>) -> Result<(), String> {
        for (name, _, new) in files {
            let path = full(Path::new(&name));
            let of = |sheet: &&mut Sheet| sheet.changed == path || sheet.original == path;
            if let Some(sheet) = self.all.iter_mut().find(of) {
                fs::write(&sheet.changed, &new).map_err(|error| error.to_string())?;
                sheet.new = new;
            }
        }
        Ok(())
    }

    /// Where the changed form of a source is, if it was changed.
    fn at(&self, path: &Path) -> Option<PathBuf> {
        let path = full(path);
        let found = self.all.iter().find(|sheet| sheet.original == path && sheet.new != sheet.old);
        found.map(|sheet| sheet.changed.clone())
    }

    fn changed(&self) -> Vec<(PathBuf, String, String)> {
        let changed = self.all.iter().filter(|sheet| sheet.new != sheet.old);
        changed.map(|sheet| (sheet.original.clone(), sheet.old.clone(), sheet.new.clone())).collect()
    }
}

impl Drop for Sheets {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn full(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or(path.to_owned())
}

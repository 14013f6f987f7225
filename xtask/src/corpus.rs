//! The programs of the corpus, with the verdicts in their headers.

use crate::Outcome;
use crate::cargo::root;
use std::path::PathBuf;

/// A program and what its header says.
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// The file's name within the corpus, without extension.
    pub name: String,
    /// Models and the verdicts expected.
    pub expected: Vec<(String, String)>,
    /// Options that it needs.
    pub flags: Vec<String>,
}

/// All programs of a folder of the corpus, by name.
pub fn programs(folder: &str) -> Outcome<Vec<Program>> {
    let folder = root().join("corpus").join(folder);
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "tpl" || e == "litmus"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| read(path.clone()).map_err(|why| format!("{}: {why}", path.display())))
        .collect()
}

fn read(path: PathBuf) -> Outcome<Program> {
    let source = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let header = source.lines().filter_map(|line| line.trim().strip_prefix("//@")?.split_once(':'));
    let (mut expected, mut flags) = (Vec::new(), Vec::new());
    for (key, value) in header {
        match key.trim() {
            "flags" => flags.extend(value.split_whitespace().map(str::to_owned)),
            model => expected.push((model.to_owned(), value.trim().to_owned())),
        }
    }
    if expected.is_empty() {
        return Err("no verdict in its header".to_owned());
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Program { path, name, expected, flags })
}

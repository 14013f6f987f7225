//! The tool that this one follows, Rocker, on its own published programs: what was measured of it, and ours beside it.
//!
//! The programs are not part of this project: `cargo xtask bench check --published FOLDER` measures ours on those in a folder, which
//! has `pldi19/submission` and `popl21/submission` as the artifacts of the papers do.

use crate::Outcome;
use crate::measure::{Ended, Numbers, best_of, measure};
use crate::table::{Table, count, doing, megabytes, seconds};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A measurement of the original tool, on the same kind of machine as ours: bit-state hashing, one core.
struct Original {
    /// The program, below the folder of published programs.
    file: &'static str,
    model: &'static str,
    /// CPU seconds to generate and compile the verifier, and to search.
    seconds: (f64, f64),
    /// Millions of states, where they are known.
    states: Option<f64>,
    /// Gigabytes, where they are known.
    memory: Option<f64>,
}

const fn original(
    file: &'static str,
    model: &'static str,
    seconds: (f64, f64),
    states: Option<f64>,
    memory: Option<f64>,
) -> Original {
    Original { file, model, seconds, states, memory }
}

const ORIGINALS: [Original; 9] = [
    original("pldi19/submission/peterson-ra.tpl", "ra", (8.5, 0.1), None, None),
    original("pldi19/submission/lamport2-ra.tpl", "ra", (30.0, 0.3), None, None),
    original("pldi19/submission/spinlock4.tpl", "ra", (6.0, 1.6), None, None),
    original("pldi19/submission/ticketlock4.tpl", "ra", (9.0, 26.0), None, Some(6.4)),
    original("pldi19/submission/seqlock.tpl", "ra", (6.4, 31.0), Some(13.8), None),
    original("pldi19/submission/chase-lev-ra.tpl", "ra", (9.5, 84.0), Some(50.6), None),
    original("pldi19/submission/rcu.tpl", "ra", (8.7, 110.0), Some(38.7), Some(6.6)),
    original("popl21/submission/ra/lamport2-3.tpl", "rc20", (13.5, 146.0), Some(62.5), Some(7.5)),
    original("popl21/submission/ra/rcu-offline.tpl", "rc20", (19.0, 90.0), Some(56.8), None),
];

/// Our numbers for one of the programs above.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Published {
    #[serde(rename = "published")]
    pub file: String,
    pub model: String,
    pub numbers: Numbers,
}

/// Measures ours on the programs above.
pub fn measure_each(tool: &Path, folder: &Path, limits: &[&str]) -> Outcome<Vec<Published>> {
    let mut found = Vec::new();
    for Original { file, model, .. } in ORIGINALS {
        doing(&format!("{file} under {model} …"));
        let numbers = best_of(tool, &folder.join(file), model, limits)?;
        found.push(Published { file: file.to_owned(), model: model.to_owned(), numbers });
    }
    Ok(found)
}

/// All programs of the PLDI 2019 paper in one run, start-up included, in words.
pub fn measure_together(tool: &Path, folder: &Path) -> Outcome<String> {
    let folder = folder.join("pldi19/submission");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "tpl"));
    files.sort();
    let mut command = Command::new(tool);
    command.args(["check", "--model", "ra", "--format", "json", "--timeout", "10m"]).args(&files);
    let Ended { printed, usage, .. } = measure(&mut command)?;
    let verdicts = |what: &str| {
        let field = format!("\"verdict\":\"{what}\"");
        printed.lines().filter(|line| line.contains(&field)).count()
    };
    Ok(format!(
        "All {} programs of the PLDI 2019 paper under ra, one after the other in one process: {} robust, {} not, {} \
         given up; {:.1} s ({:.1} s of CPU), {} MB.",
        files.len(),
        verdicts("robust"),
        verdicts("not-robust"),
        verdicts("gave-up"),
        usage.seconds,
        usage.cpu_seconds,
        megabytes(usage.memory)
    ))
}

/// The original beside ours.
pub fn comparison(published: &[&Published]) -> Table {
    let header = [
        "program",
        "model",
        "original: CPU s",
        "states",
        "memory",
        "seqcst: CPU s",
        "s",
        "states ",
        "memory ",
        "verdict",
    ];
    let mut out = Table::new(&header, &["program", "model", "verdict"]);
    for Original { file, model, seconds: (compile, search), states, memory } in ORIGINALS {
        let Some(Published { numbers: ours, .. }) =
            published.iter().find(|p| p.file == file && p.model == model)
        else {
            continue;
        };
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        out.row(vec![
            name,
            model.to_owned(),
            format!("{compile} + {search}"),
            or_dash(states.map(|millions| format!("{millions} M"))),
            or_dash(memory.map(|gigabytes| format!("{gigabytes} GB"))),
            seconds(ours.usage.cpu_seconds),
            seconds(ours.usage.seconds),
            count(ours.states),
            format!("{} MB", megabytes(ours.usage.memory)),
            ours.verdict.clone(),
        ]);
    }
    out
}

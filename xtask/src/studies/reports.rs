//! What a run reported, from its JSON.

use crate::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Where an access stands, innermost frame first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Access {
    /// `load`, `store`, …
    pub what: String,
    /// `relaxed`, …, `plain`.
    pub mode: String,
    /// The frame that stands for it.
    pub headline: usize,
    /// Files and lines.
    pub frames: Vec<(String, u64)>,
}

/// A report.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// `stale`, `race`, `misuse` or `benign-wait`.
    pub kind: String,
    /// Inside of the locks of Rust's standard library.
    pub in_std: bool,
    /// The stale access, or the later one of a race.
    pub access: Access,
    /// The missed write, or the earlier access of a race.
    pub other: Access,
}

/// The reports in a file; none if there is no such file, which a program without any need not write.
pub fn reports(file: &Path) -> Outcome<Vec<Report>> {
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(Vec::new()) };
    let process: Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let reports = process["reports"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(reports.iter().map(report).collect())
}

/// The reports of all processes that left a file in a directory.
pub fn all_reports(folder: &Path) -> Outcome<Vec<Report>> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut all = Vec::new();
    for entry in entries.flatten() {
        all.extend(reports(&entry.path())?);
    }
    Ok(all)
}

fn report(value: &Value) -> Report {
    let other = if value["missed"].is_null() { "earlier" } else { "missed" };
    Report {
        kind: value["kind"].as_str().unwrap_or_default().to_owned(),
        in_std: value["origin"] == "std",
        access: access(&value["access"]),
        other: access(&value[other]),
    }
}

fn access(value: &Value) -> Access {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let frames = value["stack"].as_array().map(Vec::as_slice).unwrap_or_default();
    Access {
        what: text(&value["what"]),
        mode: text(&value["mode"]),
        headline: value["headline"].as_u64().unwrap_or(0) as usize,
        frames: frames
            .iter()
            .map(|frame| (text(&frame["file"]), frame["line"].as_u64().unwrap_or(0)))
            .collect(),
    }
}

impl Access {
    /// `src/lib.rs:12`, short enough for a table. Primitives of ours stand for their caller.
    pub fn place(&self) -> String {
        let ours = |(file, _): &&(String, u64)| {
            file.contains("corpus/studies/ck/") || file.contains("corpus/studies/urcu/")
        };
        let shown = self.frames.iter().skip(self.headline).find(|frame| !ours(frame));
        let Some((file, line)) = shown else { return "unknown".to_owned() };
        let parts: Vec<&str> = file.rsplit('/').take(2).collect();
        let short: Vec<&str> = parts.into_iter().rev().filter(|part| *part != "src").collect();
        format!("{}:{line}", short.join("/"))
    }

    /// Whether one of its frames is in this file, within these lines.
    pub fn stands_in(&self, file: &str, lines: std::ops::RangeInclusive<u64>) -> bool {
        self.frames.iter().any(|(path, line)| path.ends_with(file) && lines.contains(line))
    }
}

/// What was found in several runs: each pair of places once.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Saved>", into = "Vec<Saved>")]
pub struct Found {
    pairs: BTreeMap<Pair, u64>,
}

/// Two places in the source, and what kind of report is about them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Pair {
    /// `stale load`, `stale store`, `stale update`, `race`, `misuse`, `benign wait`, `inside std`.
    pub class: String,
    /// The access.
    pub access: String,
    /// The other one.
    pub other: String,
}

impl Found {
    /// Adds a run.
    pub fn add(&mut self, reports: &[Report]) {
        for report in reports {
            let class = match (report.kind.as_str(), report.access.what.as_str()) {
                _ if report.in_std => "inside std",
                ("race", _) => "race",
                ("misuse", _) => "misuse",
                ("benign-wait", _) => "benign wait",
                (_, "load" | "failed compare-and-swap") => "stale load",
                (_, "store") => "stale store",
                _ => "stale update",
            };
            let words = |access: &Access| format!("{} {}, {}", access.what, access.mode, access.place());
            let pair =
                Pair { class: class.to_owned(), access: words(&report.access), other: words(&report.other) };
            *self.pairs.entry(pair).or_default() += 1;
        }
    }

    /// How many different ones of a class.
    pub fn count(&self, class: &str) -> usize {
        self.pairs.keys().filter(|pair| pair.class.starts_with(class)).count()
    }
}

/// Class, access, other access, and the number of runs in which they were found.
type Saved = (String, String, String, u64);

impl From<Vec<Saved>> for Found {
    fn from(saved: Vec<Saved>) -> Found {
        let pair = |(class, access, other, runs)| (Pair { class, access, other }, runs);
        Found { pairs: saved.into_iter().map(pair).collect() }
    }
}

impl From<Found> for Vec<Saved> {
    fn from(found: Found) -> Vec<Saved> {
        let saved = |(Pair { class, access, other }, runs)| (class, access, other, runs);
        found.pairs.into_iter().map(saved).collect()
    }
}

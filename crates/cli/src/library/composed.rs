//! A client of several libraries: SC fences between calls to different ones, and its repair.

use super::answer::{Answer, Loaded, complaint, read};
use super::text::{count, paint};
use super::tried::{self, Tried};
use super::{json, say};
use crate::Status;
use crate::flags::{Format, LibraryFlags};
use crate::output::{self, Target};
use seqcst_library::code::Library;
use seqcst_library::compose::fix::{self, Fixed};
use seqcst_library::compose::{Call, Composition, Gap, Interface, check, merge};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// A client that was read.
pub struct Client {
    /// Its path, as given.
    pub name: String,
    text: String,
    interfaces: Vec<Interface>,
    composition: Composition,
}

impl Client {
    /// Reads a client of libraries.
    pub fn new(path: &Path, libraries: &[Loaded], macros: &[String]) -> Result<Client, String> {
        let (name, text) = read(path)?;
        let text = String::from_utf8(text).map_err(|_| format!("{name}: error: this is not UTF-8\n"))?;
        let interface = |loaded: &Loaded| Interface::new(&loaded.name, &loaded.text, macros, &loaded.library);
        let interfaces = libraries.iter().map(interface).collect::<Result<Vec<_>, _>>();
        let interfaces = interfaces.map_err(|error| complaint(&error))?;
        let composition =
            check(&name, text.as_bytes(), macros, &interfaces).map_err(|error| complaint(&error))?;
        Ok(Client { name, text, interfaces, composition })
    }

    /// Says what is missing, and repairs it if asked to.
    pub fn report(
        &self,
        answers: &[Answer],
        target: Option<&Target>,
        flags: &LibraryFlags,
    ) -> Result<Status, String> {
        let gaps = &self.composition.gaps;
        let holds = gaps.is_empty() && self.composition.broken.is_empty();
        let status = if holds { Status::Holds } else { Status::Violation };
        let libraries = answers.iter().map(|answer| &answer.loaded.transformed.library);
        let tried = (!gaps.is_empty() && !flags.no_try).then(|| confirm(libraries, gaps, flags)).flatten();
        let fixed = match flags.fix {
            true => {
                let fixed =
                    fix::fix(&self.name, &self.text, &flags.define, &self.composition, &self.interfaces);
                Some(fixed.map_err(|error| complaint(&error))?)
            }
            false => None,
        };
        let all = answers.iter().all(|answer| answer.status() == Status::Holds);
        match flags.format {
            Format::Json => {
                let mut out = self.json(all, tried.as_ref(), fixed.as_ref());
                if let (Some(fixed), None) = (&fixed, target) {
                    out["fixed"] = json!(fixed.text);
                }
                output::answer(&format!("{out}\n"));
            }
            Format::Text => {
                say(flags, |color| self.text(all, tried.as_ref(), fixed.as_ref(), color));
            }
        }
        if let Some(fixed) = fixed {
            match (target, flags.format) {
                (Some(target), _) => target.write(&fixed.text)?,
                (None, Format::Text) => {
                    output::answer(&fixed.text);
                }
                (None, Format::Json) => {}
            }
        }
        Ok(status)
    }

    fn text(&self, all: bool, tried: Option<&Tried>, fixed: Option<&Fixed>, color: bool) -> String {
        let it = &self.composition;
        let mut out = String::new();
        let effort = format!("{}, {}", count(it.calls, "call"), count(it.fences, "SC fence"));
        let threads = it.threads.join(", ");
        let _ = match (it.gaps.len(), all) {
            (0, true) if !it.broken.is_empty() => writeln!(
                out,
                "{}: {} — no fence is missing, but a promise may be broken; threads: {threads}; {effort}",
                paint("may be non-robust", "1;31", color),
                self.name
            ),
            (0, true) => writeln!(
                out,
                "{}: {} with these libraries — threads: {threads}; {effort}",
                paint("robust", "1;32", color),
                self.name
            ),
            (0, false) => writeln!(
                out,
                "{}: {} — no fence is missing, but not all of its libraries are proved robust; threads: {threads}; {effort}",
                paint("may be non-robust", "1;31", color),
                self.name
            ),
            (missing, _) => writeln!(
                out,
                "{}: {} — {} of calls to different libraries with no SC fence in between; threads: {threads}; {effort}",
                paint("may be non-robust", "1;31", color),
                self.name,
                count(missing, "pair")
            ),
        };
        for gap in &it.gaps {
            let _ = writeln!(
                out,
                "\n  `{}` ({}), then `{}` ({})",
                gap.earlier.what, gap.earlier.owner, gap.later.what, gap.later.owner
            );
            for (call, words) in [
                (&gap.earlier, "this call"),
                (&gap.later, "and then this one: a fence is missing in front of it"),
            ] {
                let _ = writeln!(out, "    {}: {words}, in {}", it.place(call.site), call.function);
                if let Some(line) = self.line(call) {
                    let _ = writeln!(out, "      {:>5} | {line}", call.site.line);
                }
            }
            let lines: Vec<String> = gap.path.iter().map(|site| site.line.to_string()).collect();
            if lines.len() > 2 {
                let _ = writeln!(out, "    by lines {}", shorten(&lines).join(" → "));
            }
        }
        for promise in &it.broken {
            let _ = writeln!(out, "\n  {promise}");
        }
        if let Some(tried) = tried {
            let by = "by this client of the same libraries, with no fences between such calls";
            super::text::confirmation(&mut out, tried, by, color);
        }
        if let Some(fixed) = fixed {
            let _ = writeln!(
                out,
                "\n  {} put in; what came out was checked again",
                count(fixed.fences.len(), "fence")
            );
            for (call, why) in &fixed.left {
                let _ =
                    writeln!(out, "  {}: no fence in front of `{}`: {why}", it.place(call.site), call.what);
            }
        }
        if !it.gaps.is_empty() {
            out.push('\n');
        }
        for assumption in &it.assumptions {
            let _ = writeln!(out, "  assumed: {assumption}");
        }
        out
    }

    /// A call's line in the source.
    fn line(&self, call: &Call) -> Option<String> {
        let line = (call.site.file == 0).then(|| self.text.lines().nth(call.site.line as usize - 1))??;
        Some(line.trim().chars().filter(|c| !c.is_control()).take(100).collect())
    }

    fn json(&self, all: bool, tried: Option<&Tried>, fixed: Option<&Fixed>) -> Value {
        let it = &self.composition;
        let call = |call: &Call| {
            json!({"call": call.what, "library": call.owner.to_string(), "function": call.function, "place": {
                "file": it.files.get(call.site.file as usize), "line": call.site.line, "column": call.site.column }})
        };
        let gaps: Vec<Value> = it
            .gaps
            .iter()
            .map(|gap| {
                let path: Vec<u32> = gap.path.iter().map(|site| site.line).collect();
                json!({"earlier": call(&gap.earlier), "later": call(&gap.later), "path": path})
            })
            .collect();
        let mut out = json!({
            "file": self.name,
            "model": "rc20",
            "verdict": if it.gaps.is_empty() && it.broken.is_empty() && all { "robust" } else { "may-be-non-robust" },
            "threads": it.threads,
            "calls": it.calls,
            "fences": it.fences,
            "missing": gaps,
            "broken": it.broken,
            "assumptions": it.assumptions,
        });
        if let Some(tried) = tried {
            out["client"] = json::client(tried);
        }
        if let Some(fixed) = fixed {
            let left: Vec<Value> =
                fixed.left.iter().map(|(it, why)| json!({"call": call(it), "why": why})).collect();
            out["inserted"] = json!(fixed.fences.len());
            out["left"] = json!(left);
        }
        out
    }
}

/// The beginning and the end of a long way.
fn shorten(lines: &[String]) -> Vec<String> {
    match lines.len() {
        0..=10 => lines.to_vec(),
        _ => [&lines[..5], &["…".to_owned()], &lines[lines.len() - 4..]].concat(),
    }
}

/// Looks for a client of all libraries together that calls them in this order, with no fence in between.
fn confirm<'a>(
    libraries: impl Iterator<Item = &'a Library>,
    gaps: &[Gap],
    flags: &LibraryFlags,
) -> Option<Tried> {
    let merged = merge::merge(&libraries.collect::<Vec<_>>());
    let is_method = |call: &Call| merged.methods.iter().any(|method| method.name == call.what);
    let sessions: Vec<Vec<String>> = gaps
        .iter()
        .filter(|gap| is_method(&gap.earlier) && is_method(&gap.later))
        .map(|gap| vec![gap.earlier.what.clone(), gap.later.what.clone()])
        .collect();
    (!sessions.is_empty()).then(|| tried::sessions_of(&merged, sessions, &flags.bounds, flags.try_time))
}

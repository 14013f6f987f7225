//! `cargo xtask readme`: sample output in documents is made by the tool, never typed.
//!
//! A document has blocks
//!
//! ```text
//! <!-- generated: $ seqcst check --model ra corpus/litmus/sb.tpl -->
//! …
//! <!-- end -->
//! ```
//!
//! What stands between the markers is replaced: by a session with the command, by its source (`file PATH`), by the report of a
//! test in process (`report of TEST`), or by a table of the saved benchmarks and studies (`bench`, `comparison`, `bench-run`, `bench-explore`, `bench-models`, `bench-port`, `bench-library`, `studies`, `soak`). With `--check` nothing is
//! written; times may differ then.

use crate::cargo::{root, seqcst};
use crate::{
    Outcome, bench, bench_explore, bench_library, bench_models, bench_port, bench_run, saved, soak, studies,
};
use std::fs;
use std::path::Path;
use std::process::Command;

const DOCUMENTS: [&str; 10] = [
    "README.md",
    "docs/check.md",
    "docs/sanitizer.md",
    "docs/tpl.md",
    "docs/benchmarks.md",
    "docs/case-studies.md",
    "docs/explore.md",
    "docs/models.md",
    "docs/port.md",
    "docs/library.md",
];
const START: &str = "<!-- generated: ";
const START_END: &str = " -->\n";
const END: &str = "<!-- end -->";

/// What to do.
#[derive(clap::Args)]
pub struct Options {
    /// Write nothing, only look whether documents are up to date
    #[arg(long)]
    check: bool,
}

/// Renews all documents, or complains about those that are not up to date.
pub fn run(options: &Options) -> Outcome {
    let only_check = options.check;
    let tool = seqcst(false)?;
    let mut old = Vec::new();
    for name in DOCUMENTS {
        let path = root().join(name);
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let renewed = renew(&text, &|what| generate(&tool, what)).map_err(|why| format!("{name}: {why}"))?;
        if without_times(&text) != without_times(&renewed) && only_check {
            old.push(format!("{name}: {}", first_difference(&text, &renewed)));
        } else if !only_check && text != renewed {
            fs::write(&path, renewed).map_err(|error| format!("{name}: {error}"))?;
            println!("{name}: renewed");
        }
    }
    if old.is_empty() {
        return Ok(());
    }
    Err(format!("sample output is not up to date, run `cargo xtask readme`:\n  {}", old.join("\n  ")))
}

/// Replaces every block.
fn renew(text: &str, generate: &dyn Fn(&str) -> Outcome<String>) -> Outcome<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(START) {
        let (what, after) = after.split_once(START_END).ok_or("a marker has no end")?;
        let (_, after) = after.split_once(END).ok_or(format!("the block `{what}` has no end"))?;
        out += &format!("{before}{START}{what}{START_END}{}{END}", generate(what)?);
        rest = after;
    }
    Ok(out + rest)
}

fn generate(tool: &Path, what: &str) -> Outcome<String> {
    if let Some(command) = what.strip_prefix("$ ") {
        return if command.contains("&&") { shell(tool, command) } else { session(tool, command) };
    }
    if let Some(file) = what.strip_prefix("file ") {
        let source = fs::read_to_string(root().join(file)).map_err(|error| format!("{file}: {error}"))?;
        return Ok(format!("```\n{source}```\n"));
    }
    if let Some(test) = what.strip_prefix("report of ") {
        return expected_report(test);
    }
    // Each is written by the chore of its name with `--save`.
    let saved = |name: &str| root().join("docs").join(name);
    match what {
        "bench" => saved::load(&saved("bench-check.jsonl")).map(|saved| full_table(&saved)),
        "comparison" => saved::load(&saved("bench-check.jsonl")).map(|saved| comparison(&saved)),
        "bench-run" => {
            saved::load(&saved("bench-run.jsonl")).map(|saved: bench_run::Measured| saved.report())
        }
        "bench-explore" => {
            saved::load(&saved("bench-explore.jsonl")).map(|saved: bench_explore::Measured| saved.report())
        }
        "bench-models" => {
            saved::load(&saved("bench-models.jsonl")).map(|saved: bench_models::Measured| saved.report())
        }
        "bench-library" => {
            saved::load(&saved("bench-library.jsonl")).map(|saved: bench_library::Measured| saved.report())
        }
        "bench-port" => {
            saved::load(&saved("bench-port.jsonl")).map(|saved: bench_port::Measured| saved.report())
        }
        "studies" => saved::load(&saved("case-studies.jsonl")).map(|saved: studies::Measured| saved.report()),
        "soak" => saved::load(&saved("soak.jsonl")).map(|saved: soak::Saved| saved.report()),
        _ => Err(format!("nobody knows how to generate `{what}`")),
    }
}

/// What a test in process reports, as the tests of reports expect it.
fn expected_report(test: &str) -> Outcome<String> {
    const FILE: &str = "crates/seqcst/tests/reports.rs";
    let source = fs::read_to_string(root().join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    let text = source
        .split_once(&format!("fn {test}() {{"))
        .and_then(|(_, rest)| rest.split_once("r#\"\n"))
        .and_then(|(_, rest)| rest.split_once("\"#]]"))
        .ok_or_else(|| format!("{FILE} has no report of `{test}`"))?
        .0;
    let indent = text.len() - text.trim_start_matches(' ').len();
    let lines = text.lines().map(|line| line.get(indent..).unwrap_or_default());
    Ok(format!("```text\n{}\n```\n", lines.collect::<Vec<_>>().join("\n")))
}

/// A command and what it prints.
fn session(tool: &Path, line: &str) -> Outcome<String> {
    let mut words = line.split_whitespace();
    if words.next() != Some("seqcst") {
        return Err(format!("`{line}` is not a call of seqcst"));
    }
    let output = Command::new(tool)
        .current_dir(root())
        .args(words)
        .env("NO_COLOR", "1")
        .output()
        .map_err(|error| error.to_string())?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    Ok(format!("```console\n$ {line}\n{}\n```\n", text.trim_end()))
}

/// Several commands in a directory with the files of `examples/`, by the compiler that is always there.
fn shell(tool: &Path, line: &str) -> Outcome<String> {
    let told = |what: &str, error: std::io::Error| format!("{what}: {error}");
    let directory = tempfile::tempdir().map_err(|error| told("temporary directory", error))?;
    for file in fs::read_dir(root().join("examples")).map_err(|error| told("examples", error))?.flatten() {
        fs::copy(file.path(), directory.path().join(file.file_name()))
            .map_err(|error| told("examples", error))?;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let here = tool.parent().map_or(String::new(), |parent| parent.display().to_string());
    let output = Command::new("sh")
        .current_dir(&directory)
        .args(["-c", &format!("({line}) 2>&1")])
        .env("PATH", format!("{here}:{path}"))
        .env("SEQCST_CC", "gcc")
        .env("NO_COLOR", "1")
        .output()
        .map_err(|error| told("sh", error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(format!("```console\n$ {line}\n{}\n```\n", without_numbers(text.trim_end())))
}

/// The text without process numbers and addresses, which are others each time.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x").into_iter().chain(rest.find("pid=")).min() {
        let start = at + if rest[at..].starts_with("0x") { 2 } else { 4 };
        out += &rest[..start];
        // A tape: so many turns of thread 0.
        if rest[..at].ends_with("--replay ") {
            rest = &rest[start..];
            continue;
        }
        rest = rest[start..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
        out.push('…');
    }
    out + rest
}

fn full_table(result: &bench::Measured) -> String {
    format!("{} {}\n\n{}", result.origin(), result.notes.limits, result.table().markdown())
}

/// The original tool beside ours.
fn comparison(result: &bench::Measured) -> String {
    let together = result.notes.together.as_ref().map_or(String::new(), |words| format!("\n{words}\n"));
    let table = result.comparison().map_or(String::new(), |table| table.markdown());
    format!("Ours is commit {}, on {}:\n\n{table}{together}", result.commit, result.machine)
}

/// The text without what depends on the machine: `0.12 s`, `under 0.01 s`.
fn without_times(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let unit = words
            .get(at + 1)
            .is_some_and(|next| next.starts_with('s') && !next[1..].starts_with(char::is_alphabetic));
        match *word {
            number if unit && number.parse::<f64>().is_ok() => out.push("…"),
            "under" if words.get(at + 2).is_some_and(|next| next.starts_with("s\n")) => {}
            other => out.push(other),
        }
    }
    out.join(" ")
}

fn first_difference(old: &str, new: &str) -> String {
    let (old, new) = (without_times(old), without_times(new));
    let pair = old.lines().zip(new.lines()).enumerate().find(|(_, (a, b))| a != b);
    pair.map_or("the end".to_owned(), |(number, (a, b))| {
        format!("line {}: `{a}` should be `{b}`", number + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_replaced() {
        let text = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n";
        let new = renew(text, &|what| Ok(format!("new {what}\n")));
        assert_eq!(new.as_deref(), Ok("a\n<!-- generated: x -->\nnew x\n<!-- end -->\nb\n"));
    }

    #[test]
    fn addresses_do_not_matter() {
        assert_eq!(without_numbers("(pid=12) at 0x7fe0 in x (a+0x1f)"), "(pid=…) at 0x… in x (a+0x…)");
        assert_eq!(without_numbers("--replay 0x2,1 ./p 0x2"), "--replay 0x2,1 ./p 0x…");
    }

    #[test]
    fn times_do_not_matter() {
        assert_eq!(without_times("7 states, 0.12 s\n"), without_times("7 states, under 0.01 s\n"));
        assert_ne!(without_times("7 states, 0.12 s\n"), without_times("8 states, 0.12 s\n"));
    }
}

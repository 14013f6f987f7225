//! `cargo xtask bench explore`: how many schedules, how many of them borderline, in what time.
//!
//! * the experiments of Burckhardt and Musuvathi (CAV 2008, Fig. 4a), rebuilt in `corpus/c/small`;
//! * searches in which a run-time monitor alone needs luck;
//! * `pct`: how often bugs of known depth show, beside the guarantee;
//! * speed: executions per second, steps per second.
//!
//! Numbers come from `seqcst explore --format json`; [`tables`] makes tables of them.

mod rows;
mod tables;

pub use rows::{Measured, Row};

use crate::cargo::{root, seqcst};
use crate::table::doing;
use crate::{Outcome, saved};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs with the bounds of Fig. 4(a), and how the repaired version is called.
const SOBER: [(&str, &[u32], &str); 5] = [
    ("sb", &[0, 1, 2], "sb-fences"),
    ("dekker", &[1, 2, 3, 4, 5], "dekker-fences"),
    ("bakery", &[0, 1, 2, 3], "bakery-fences"),
    ("take-queue", &[0, 1, 2, 3, 4, 5], "take-queue-fences"),
    ("idle", &[0, 1, 2, 3], "idle-fences"),
];
/// What to look for, with its arguments.
const SEARCHES: [(&str, &[&str]); 4] =
    [("seqlock", &[]), ("ex-3-1", &[]), ("event-counters-relaxed", &["8"]), ("lamport", &[])];
/// How often each time is measured: the least counts.
const REPEATS: usize = 3;

/// What to measure.
#[derive(clap::Args)]
pub struct Options {
    /// Small bounds, every time measured once
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    save: saved::Save,
}

/// Runs `bench explore`.
pub fn run(options: &Options) -> Outcome {
    let bench =
        Bench { tool: seqcst(true)?, folder: crate::studies::folder("explore")?, quick: options.quick };
    let mut result = Measured::here(());
    result.rows.extend(bench.sober()?);
    result.rows.extend(bench.searches()?);
    result.rows.extend(bench.promises()?);
    result.rows.extend(bench.speed()?);
    doing("");
    println!("{}", result.report());
    result.save(options.save.save.as_deref())
}

struct Bench {
    tool: PathBuf,
    folder: PathBuf,
    quick: bool,
}

impl Bench {
    fn compile(&self, source: &Path) -> Outcome<String> {
        let program = self.folder.join(source.file_stem().unwrap_or_default());
        let mut command = Command::new(&self.tool);
        command.args(["cc", "-O1", "-pthread"]).arg(source).arg("-o").arg(&program);
        crate::cargo::run(&mut command)?;
        Ok(program.display().to_string())
    }

    fn small(&self, name: &str) -> Outcome<String> {
        self.compile(&root().join(format!("corpus/c/small/{name}.c")))
    }

    /// The answer of one call.
    fn explore(&self, args: &[&str]) -> Outcome<Value> {
        let mut command = Command::new(&self.tool);
        command.args(["explore", "--format", "json", "--timeout", "10m"]).args(args);
        let output = command.output().map_err(|error| format!("seqcst: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_str(&text).map_err(|_| format!("seqcst explore {}: {}", args.join(" "), said()))
    }

    /// The answer with the least time.
    fn best(&self, args: &[&str]) -> Outcome<Value> {
        let mut best = self.explore(args)?;
        let repeats = if self.quick || seconds(&best) > 3.0 { 1 } else { REPEATS };
        for _ in 1..repeats {
            let again = self.explore(args)?;
            if seconds(&again) < seconds(&best) {
                best = again;
            }
        }
        Ok(best)
    }

    fn sober(&self) -> Outcome<Vec<Row>> {
        let mut rows = Vec::new();
        for (name, bounds, repaired) in SOBER {
            let (program, repaired) = (self.small(name)?, self.small(repaired)?);
            for &bound in bounds.iter().filter(|&&bound| !self.quick || bound <= 2) {
                doing(&format!("{name}, up to {bound} preemptions …"));
                let text = bound.to_string();
                let flags = ["--model", "tso", "--no-races", "--strategy", "bounded", "--bound", &text];
                let of = |program: &str, more: &[&str]| self.best(&[&flags[..], more, &[program]].concat());
                let counted = of(&program, &["--keep-going"])?;
                let first = of(&program, &[])?;
                let with = of(&repaired, &[])?;
                let without = of(&repaired, &["--no-monitor"])?;
                rows.push(Row::new(
                    "sober",
                    name,
                    &text,
                    &[
                        ("executions", number(&counted, "executions")),
                        ("borderline", number(&counted, "borderline")),
                        ("seconds", seconds(&counted)),
                        ("found", f64::from(u8::from(first["verdict"] == "not-robust"))),
                        ("first", seconds(&first)),
                        ("verified", f64::from(u8::from(with.get("found").is_none()))),
                        ("repaired", number(&with, "executions")),
                        ("with", seconds(&with)),
                        ("without", seconds(&without)),
                        ("without_executions", number(&without, "executions")),
                    ],
                ));
            }
        }
        Ok(rows)
    }

    fn searches(&self) -> Outcome<Vec<Row>> {
        let mut rows = Vec::new();
        for (name, args) in SEARCHES {
            let program = self.small(name)?;
            for strategy in ["bounded", "pct", "random"] {
                doing(&format!("{name}, {strategy} …"));
                let answer = self.best(&[&["--strategy", strategy, &program], args].concat())?;
                rows.push(Row::new(
                    "search",
                    &[&[name], args].concat().join(" "),
                    strategy,
                    &[
                        ("found", f64::from(u8::from(answer["verdict"] == "not-robust"))),
                        ("executions", number(&answer, "executions")),
                        ("first", seconds(&answer)),
                    ],
                ));
            }
        }
        Ok(rows)
    }

    /// Bugs of known depth: in how many executions each seed finds one.
    fn promises(&self) -> Outcome<Vec<Row>> {
        let seeds = if self.quick { 50 } else { 400 };
        let mut rows = Vec::new();
        for depth in 1..=3 {
            doing(&format!("pct, depth {depth} …"));
            let program =
                root().join(format!("xtask/src/bench_explore/depth-{depth}.tpl")).display().to_string();
            let depth = depth.to_string();
            let flags = ["--model", "sc", "--strategy", "pct", "--depth", &depth, "--executions", "100000"];
            let of = |more: &[&str]| self.explore(&[&flags[..], more, &[&program]].concat());
            let (mut executions, mut found) = (0.0, 0.0);
            for seed in 1..=seeds {
                let answer = of(&["--seed", &seed.to_string()])?;
                executions += number(&answer, "executions");
                found += f64::from(u8::from(answer["verdict"] == "assertion"));
            }
            let all = of(&["--keep-going"])?;
            let words = all["guarantee"].as_str().unwrap_or_default();
            let before = |word: &str| {
                let number = words.split_once(word).and_then(|(start, _)| start.rsplit(' ').next());
                number.and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0)
            };
            let numbers = [
                ("seeds", f64::from(seeds)),
                ("executions", executions),
                ("found", found),
                ("threads", before(" threads")),
                ("steps", before(" steps")),
            ];
            rows.push(Row::new("pct", &format!("depth-{depth}"), &depth, &numbers));
        }
        Ok(rows)
    }

    fn speed(&self) -> Outcome<Vec<Row>> {
        doing("speed …");
        let program = self.compile(&root().join("xtask/src/bench_explore/speed.c"))?;
        let executions = if self.quick { "500" } else { "3000" };
        let many = self.best(&["--strategy", "random", "--executions", executions, &program])?;
        let alone = |accesses: &str, more: &[&str]| {
            let flags = ["--strategy", "random", "--executions", "1", "--steps", "8000000"];
            self.best(&[&flags[..], more, &[&program, "1", accesses]].concat())
        };
        let (short, long) = (
            alone("100", &["--model", "sc", "--no-races"])?,
            alone("3000000", &["--model", "sc", "--no-races"])?,
        );
        let long_with = alone("3000000", &[])?;
        let per_second = |long: &Value| {
            (number(long, "steps") - number(&short, "steps")) / (seconds(long) - seconds(&short)).max(1e-6)
        };
        Ok(vec![
            Row::new(
                "speed",
                "3 threads, 30 accesses",
                "executions/s",
                &[("rate", number(&many, "executions") / seconds(&many).max(1e-6))],
            ),
            Row::new(
                "speed",
                "1 thread, 3,000,000 accesses, no monitor",
                "steps/s",
                &[("rate", per_second(&long))],
            ),
            Row::new(
                "speed",
                "1 thread, 3,000,000 accesses, rc20",
                "steps/s",
                &[("rate", per_second(&long_with))],
            ),
        ])
    }
}

fn number(answer: &Value, name: &str) -> f64 {
    answer[name].as_f64().unwrap_or(0.0)
}

fn seconds(answer: &Value) -> f64 {
    number(answer, "seconds")
}

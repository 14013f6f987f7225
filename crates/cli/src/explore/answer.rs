//! What an exploration came to, as text for people and as JSON.

use super::schedule::{self, Line};
use super::verdict::Verdict;
use crate::progress::count;
use seqcst_report::{Finding, explain, to_json_value};
use seqcst_schedule::{Summary, ThreadId, tape};
use serde_json::{Value, json};
use std::fmt::Write;

/// The answer, with all there is to tell about it.
pub struct Answer {
    /// The program and its arguments, as they were given.
    pub words: Vec<String>,
    /// The memory model.
    pub model: &'static str,
    /// The strategy; nothing for a replay.
    pub strategy: Option<&'static str>,
    /// In a word.
    pub verdict: Verdict,
    /// Counts.
    pub summary: Summary,
    /// Threads of the program, as far as seen.
    pub threads: usize,
    /// The execution in which something was found.
    pub failing: Option<Told>,
}

/// An execution in which something was found.
#[derive(Default)]
pub struct Told {
    /// The how-manieth it was.
    pub number: u64,
    /// The tape that leads there.
    pub tape: Vec<ThreadId>,
    /// What happened, in lines.
    pub message: Vec<String>,
    /// All steps; empty if `witness` shows them.
    pub schedule: Vec<Line>,
    /// What the runtime reported: text.
    pub log: String,
    /// What the runtime reported: documents.
    pub documents: Vec<Value>,
    /// The execution graph, for finite-state programs.
    pub witness: Option<Finding>,
    /// The command that does it again.
    pub replay: String,
}

impl Answer {
    /// For a terminal.
    pub fn text(&self, color: bool) -> String {
        let paint = |code: &str, text: &str| match color {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        };
        let code = match self.verdict {
            Verdict::Robust | Verdict::NothingFound => "1;32",
            Verdict::GaveUp(_) => "1;33",
            _ => "1;31",
        };
        let mut out = format!("{}: {}", paint(code, self.verdict.headline()), self.words.join(" "));
        let _ = write!(out, " under {}", self.model);
        if let Verdict::GaveUp(why) = &self.verdict {
            let _ = write!(out, " — {why}");
        }
        out.push('\n');
        if let Some(failing) = &self.failing {
            out += &failing.text(color);
        }
        out += &self.effort();
        if let Some(proved) = self.proved() {
            let _ = writeln!(out, "  {proved}");
        }
        if let Some(failing) = &self.failing {
            let _ = writeln!(out, "  replay: {}", paint("1", &failing.replay));
        }
        out
    }

    /// Executions, in how much time, and by preemptions.
    fn effort(&self) -> String {
        let Summary { executions, distinct, redundant, borderline, time, ref progress, .. } = self.summary;
        let Some(strategy) = self.strategy else { return String::new() };
        let plural = if executions == 1 { "" } else { "s" };
        let mut out =
            format!("  {strategy}: {} execution{plural}, {} different", count(executions), count(distinct));
        if redundant > 0 {
            let _ = write!(out, ", {} redundant", count(redundant));
        }
        if borderline > 0 {
            let _ = write!(out, ", {} borderline", count(borderline));
        }
        let seconds = time.as_secs_f64();
        let time = if seconds < 0.01 { "under 0.01 s".to_owned() } else { format!("{seconds:.2} s") };
        // Too short for a rate to mean something.
        let rate = self.rate().filter(|_| seconds >= 1.0);
        let _ =
            writeln!(out, "; {time}{}", rate.map_or(String::new(), |rate| format!(", {}/s", count(rate))));
        let by = progress.by_preemptions.iter().enumerate();
        let by: Vec<String> = by.map(|(bound, many)| format!("{bound}: {}", count(*many))).collect();
        if by.len() > 1 {
            let _ = writeln!(out, "  by preemptions: {}", by.join(", "));
        }
        out
    }

    /// Executions per second, if there were enough to tell.
    fn rate(&self) -> Option<u64> {
        let seconds = self.summary.time.as_secs_f64();
        (seconds >= 0.01).then(|| (self.summary.executions as f64 / seconds) as u64)
    }

    /// What holds now, and what doesn't follow from it.
    fn proved(&self) -> Option<String> {
        self.strategy?;
        let progress = &self.summary.progress;
        if self.failing.is_some() && !progress.exhausted {
            return None;
        }
        let bound = progress.finished_bound;
        let up_to = |bound: u32| match bound {
            0 => "without preemption".to_owned(),
            1 => "with up to 1 preemption".to_owned(),
            many => format!("with up to {many} preemptions"),
        };
        let tried = match (progress.exhausted, bound, &progress.guarantee) {
            (true, ..) => "all schedules were tried".to_owned(),
            (false, Some(bound), _) => format!("all schedules {} were tried", up_to(bound)),
            (false, None, Some(guarantee)) => guarantee.clone(),
            (false, None, None) => "nothing is proved".to_owned(),
        };
        let rest = match (progress.exhausted, bound) {
            (true, _) | (_, None) => "",
            _ => "; nothing is known about others",
        };
        Some(format!("{tried}{rest}"))
    }

    /// One object in one line.
    pub fn json(&self) -> String {
        let summary = &self.summary;
        let witness = self.failing.as_ref().and_then(|failing| failing.witness.as_ref());
        let mut object = json!({
            "file": self.words.first(),
            "command": self.words,
            "model": self.model,
            "verdict": self.verdict.name(),
            "executions": summary.executions,
            "distinct": summary.distinct,
            "redundant": summary.redundant,
            "borderline": summary.borderline,
            "steps": summary.steps,
            "seconds": (summary.time.as_secs_f64() * 1e6).round() / 1e6,
            "threads": self.threads,
            "exhausted": summary.progress.exhausted,
        });
        let mut add = |name: &str, value: Option<Value>| {
            if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
                object.insert(name.to_owned(), value);
            }
        };
        if let Verdict::GaveUp(why) = &self.verdict {
            add("limit", Some(json!(why)));
        }
        add("strategy", self.strategy.map(|strategy| json!(strategy)));
        add("rate", self.rate().map(|rate| json!(rate)));
        let by = &summary.progress.by_preemptions;
        let bound = |(preemptions, executions)| json!({"preemptions": preemptions, "executions": executions});
        add("bounds", (!by.is_empty()).then(|| by.iter().enumerate().map(bound).collect()));
        add("finished_bound", summary.progress.finished_bound.map(|bound| json!(bound)));
        add("guarantee", summary.progress.guarantee.as_ref().map(|words| json!(words)));
        add("witness", witness.and_then(|finding| to_json_value(finding).get("witness").cloned()));
        if let Some(failing) = &self.failing {
            add("found", Some(failing.json()));
            add("replay", Some(json!(failing.replay)));
        }
        format!("{object}\n")
    }
}

impl Told {
    fn text(&self, color: bool) -> String {
        let mut out = String::new();
        if !self.log.is_empty() {
            let _ = writeln!(out, "{}", self.log.trim_end());
        }
        for line in &self.message {
            let _ = writeln!(out, "  {line}");
        }
        if let Some(witness) = self.witness.as_ref().and_then(|finding| explain(finding, color)) {
            out += &witness;
            out.push('\n');
        }
        if !self.schedule.is_empty() {
            let switches = self.schedule.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count();
            let preemptions = self.schedule.iter().filter(|line| line.preempts).count();
            let plural =
                |many: usize, word: &str| format!("{many} {word}{}", if many == 1 { "" } else { "s" });
            let _ = writeln!(
                out,
                "\n  execution {}: {}, {}, {}\n\n{}",
                self.number,
                plural(self.schedule.len(), "step"),
                plural(switches, "switch").replace("switchs", "switches"),
                plural(preemptions, "preemption"),
                schedule::table(&self.schedule)
            );
        }
        out
    }

    fn json(&self) -> Value {
        let reports =
            self.documents.iter().flat_map(|document| document["reports"].as_array().into_iter().flatten());
        let mut object = json!({
            "execution": self.number,
            "tape": tape::show(&self.tape),
            "message": self.message,
            "reports": reports.collect::<Vec<_>>(),
        });
        if !self.schedule.is_empty() {
            object["schedule"] = schedule::json(&self.schedule);
        }
        object
    }
}

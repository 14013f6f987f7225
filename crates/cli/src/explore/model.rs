//! `seqcst explore FILE.tpl`: a finite-state program.

use super::answer::{self, Failing};
use super::bar::Bar;
use super::verdict::Conclusion;
use super::{Stop, limits, strategies};
use crate::flags::{ExploreFlags, Format};
use crate::input::{self, Input};
use crate::output;
use crate::pictures::Pictures;
use seqcst_check::answer::{Source as Text, overflow};
use seqcst_check::schedules::{Options, ProgramSource};
use seqcst_check::states::{Found, Violation};
use seqcst_check::witness::witness;
use seqcst_explore::{End, Failure, Outcome, Plan, Source, Strategy, Summary, ThreadId, Trace, explore};
use seqcst_program::lower;
use seqcst_program::semantics::Machine;
use seqcst_report::Status;
use seqcst_report::answer::FailingExecution;
use seqcst_report::{Answer, Verdict, Witness};
use std::path::PathBuf;
use std::time::Instant;

/// Explores it.
pub fn run(flags: &ExploreFlags) -> Result<Answer, Stop> {
    let [file] = &flags.command[..] else {
        let extra = flags.command[1].to_string_lossy();
        return Err(Stop::BadInput(format!(
            "a finite-state program takes no arguments, but there is `{extra}`"
        )));
    };
    let file = PathBuf::from(file);
    let notes = flags.print.format == Format::Text;
    let pictures =
        Pictures::new(flags.svg.as_deref(), flags.dot.as_deref(), notes, std::slice::from_ref(&file));
    let pictures = pictures.map_err(|message| said(&message))?;
    let input = input::read(&file)
        .map_err(|bad| said(&bad.render(output::use_color(flags.print.color, &std::io::stderr()))))?;
    if notes {
        output::write_stderr(&input.warnings());
    }
    let code =
        lower(&input.parsed.program, flags.model).map_err(|error| Stop::BadInput(error.to_string()))?;
    let machine = Machine::new(code);
    let options = Options {
        monitor: super::watches(flags),
        races: !flags.no_races && !flags.no_monitor,
        steps: flags.steps,
    };
    let source = ProgramSource::new(&machine, options);
    let mut model = Model { flags, input: &input, machine: &machine, source };
    let answer = match strategies::tape(flags).map_err(Stop::BadInput)? {
        Some(tape) => model.replay(&tape)?,
        None => model.search()?,
    };
    if answer.verdict != Verdict::Robust {
        pictures.draw(&answer).map_err(|message| said(&message))?;
    }
    Ok(answer)
}

/// Says it right away: it has its own form.
fn said(message: &str) -> Stop {
    output::write_stderr(message);
    Stop::Said(Status::BadInput)
}

struct Model<'a> {
    flags: &'a ExploreFlags,
    input: &'a Input,
    machine: &'a Machine,
    source: ProgramSource<'a>,
}

impl Model<'_> {
    fn search(&mut self) -> Result<Answer, Stop> {
        let name = strategies::name(self.flags, true);
        let mut strategy = strategies::new(self.flags, name);
        let limits = limits(self.flags, name);
        let bar = Bar::new(&self.input.file);
        let watch = |summary: &Summary, strategy: &dyn Strategy| bar.update(summary, || strategy.progress());
        let summary = match explore(&mut self.source, &mut *strategy, &limits, watch) {
            Ok(summary) => summary,
            Err(never) => match never {},
        };
        drop(bar);
        let strategy = Some(strategies::word(name));
        let Some(first) = summary.first().cloned() else {
            let verdict = Conclusion::without_finding(&summary, super::watches(self.flags), || {
                super::limit(self.flags, &summary)
            });
            return Ok(self.answer(strategy, verdict, &summary, None));
        };
        let verdict = self.conclude(first.end, &first.outcome, &first.tape);
        let mut minimized = None;
        let mut tape = first.tape.clone();
        if self.flags.minimize {
            let each = summary.time.div_f64(summary.executions.max(1) as f64);
            match strategies::minimized(&mut self.source, &first, (&verdict, self.flags.steps), each) {
                Ok((shorter, words)) => (tape, minimized) = (shorter, Some(words)),
                Err(never) => match never {},
            }
        }
        let mut told = self.tell(first.number, &tape, &verdict)?;
        told.execution.message.extend(minimized);
        Ok(self.answer(strategy, verdict, &summary, Some(told)))
    }

    fn replay(&mut self, tape: &[ThreadId]) -> Result<Answer, Stop> {
        self.source.until(Instant::now().checked_add(self.flags.timeout));
        let (trace, outcome) = self.execute(tape);
        self.source.until(None);
        if outcome.late {
            return Err(Stop::GaveUp(super::time_is_up(self.flags)));
        }
        if trace.end == End::Diverged {
            return Err(Stop::BadInput(super::does_not_fit(tape, &trace)));
        }
        let verdict = self.conclude(trace.end, &outcome, tape);
        let steps = trace.steps.len() as u64;
        let summary = Summary { executions: 1, distinct: 1, steps, ..Summary::default() };
        let told = self.tell(1, tape, &verdict)?;
        Ok(self.answer(None, verdict, &summary, Some(told)))
    }

    /// What an execution shows; what cannot be modelled, with its place.
    fn conclude(&mut self, end: End, outcome: &Outcome, tape: &[ThreadId]) -> Conclusion {
        let conclusion = Conclusion::of(end, outcome, self.flags.steps);
        let mut conclusion = conclusion.unwrap_or(Verdict::NothingFound.into());
        if let Some(Failure::Unmodelled(_)) = outcome.failure {
            let text = Text { file: &self.input.file, text: &self.input.source };
            let found = self.source.findings(tape);
            let place = found.iter().find_map(|found| overflow(self.machine, text, found));
            conclusion.limit = place.or(conclusion.limit);
        }
        conclusion
    }

    fn execute(&mut self, tape: &[ThreadId]) -> (Trace, Outcome) {
        let (mut plan, mut trace) = (Plan::default(), Trace::default());
        plan.replay(tape.iter().copied());
        match self.source.run(&plan, &mut trace) {
            Ok(outcome) => (trace, outcome),
            Err(never) => match never {},
        }
    }

    fn answer(
        &self,
        strategy: Option<&'static str>,
        conclusion: Conclusion,
        summary: &Summary,
        failing: Option<Failing>,
    ) -> Answer {
        let threads = self.machine.code().threads.len();
        answer::answer(self.flags, strategy, conclusion, summary, threads, failing)
    }

    /// What goes wrong on a tape, with its witness where there is one.
    fn tell(&mut self, number: u64, tape: &[ThreadId], conclusion: &Conclusion) -> Result<Failing, Stop> {
        let fits = |found: &Found| {
            matches!(
                (found.violation, conclusion.verdict),
                (Violation::Stale { .. }, Verdict::NotRobust)
                    | (Violation::Race { .. } | Violation::Clash { .. }, Verdict::Race)
                    | (Violation::Failed { .. }, Verdict::Assertion)
                    | (Violation::Stuck { .. }, Verdict::Deadlock)
            )
        };
        let found = self.source.findings(tape).into_iter().find(fits);
        let witness = found.map(|found| self.witness(&found)).transpose().map_err(Stop::GaveUp)?;
        let mut message = Vec::new();
        if witness.is_none() {
            let (trace, _) = self.execute(tape);
            let names = self.source.names();
            let name = |thread: ThreadId| names.get(thread as usize).copied().unwrap_or("a thread");
            let sites = &self.machine.code().sites;
            message.extend(trace.waiting.iter().map(|waiting| {
                let text = sites.get(waiting.site as usize).map_or("", |site| &site.text);
                let verb = match trace.end {
                    End::StepLimit => "was",
                    _ if waiting.spins != 0 => "spins",
                    _ => "waits",
                };
                format!("{} {verb} at `{text}`", name(waiting.thread))
            }));
        }
        let execution = FailingExecution { execution: number, message, ..FailingExecution::default() };
        Ok(Failing { execution, tape: tape.to_vec(), witness })
    }

    fn witness(&self, found: &Found) -> Result<Witness, String> {
        let text = Text { file: &self.input.file, text: &self.input.source };
        witness(self.machine, text, self.flags.model, found).map_err(|unconfirmed| unconfirmed.to_string())
    }
}

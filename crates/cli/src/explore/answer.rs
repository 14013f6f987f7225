//! What an exploration came to, as an answer.

use super::verdict::Conclusion;
use crate::flags::ExploreFlags;
use seqcst_explore::{Summary, ThreadId, tape};
use seqcst_model::Model;
use seqcst_report::answer::{Bound, Explored, FailingExecution};
use seqcst_report::format::count;
use seqcst_report::{Answer, Details, Witness};

/// An execution in which something was found.
#[derive(Default)]
pub struct Failing {
    /// What there is to tell about it.
    pub execution: FailingExecution,
    /// The turns that lead there.
    pub tape: Vec<ThreadId>,
    /// The execution graph, for finite-state programs.
    pub witness: Option<Witness>,
}

/// The answer. A replay has no strategy.
pub fn answer(
    flags: &ExploreFlags,
    strategy: Option<&str>,
    conclusion: Conclusion,
    summary: &Summary,
    threads: usize,
    failing: Option<Failing>,
) -> Answer {
    let command: Vec<String> = flags.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (proved, not_proved) = match strategy {
        Some(_) if !summary.has_found() || summary.progress.exhausted => proved(summary),
        _ => (None, None),
    };
    let not_proved = match (not_looked_for(flags), not_proved) {
        (Some(one), Some(other)) => Some(format!("{other}; {one}")),
        (one, other) => one.or(other),
    };
    let file = command.first().cloned().unwrap_or_default();
    let replay = failing.as_ref().map(|failing| super::replay_command(flags, &failing.tape));
    let seconds = summary.time.as_secs_f64();
    let (witness, found) = failing.map_or((None, None), |Failing { mut execution, tape, witness }| {
        execution.tape = tape::show(&tape);
        (witness, Some(execution))
    });
    let bounds = summary.progress.by_preemptions.iter().enumerate();
    let some = |many: u64| (many > 0).then_some(many);
    let explored = Explored {
        command,
        strategy: strategy.map(str::to_owned),
        executions: summary.executions,
        distinct: summary.distinct,
        redundant: summary.redundant,
        borderline: summary.borderline,
        steps: summary.steps,
        // Of fewer there is nothing to tell.
        rate: (seconds >= 0.01).then(|| (summary.executions as f64 / seconds) as u64),
        exhausted: summary.progress.exhausted,
        given_up: some(summary.cut),
        held_back: some(summary.fair),
        bounds: bounds.map(|(preemptions, &executions)| Bound { preemptions, executions }).collect(),
        finished_bound: summary.progress.finished_bound,
        guarantee: summary.progress.guarantee.clone(),
        threads,
        found,
    };
    let details = Details::Explore(Box::new(explored));
    let model = if flags.no_monitor { Model::Sc } else { flags.model };
    let answer = Answer::new(file, Some(model), conclusion.verdict, details);
    Answer { limit: conclusion.limit, seconds, proved, not_proved, witness, replay, ..answer }
}

/// What the user didn't want to know.
fn not_looked_for(flags: &ExploreFlags) -> Option<String> {
    let what = match (flags.no_monitor, flags.no_races) {
        (true, _) => "stale accesses and data races",
        (false, true) => "data races",
        (false, false) => return None,
    };
    Some(format!("{what} were not looked for"))
}

/// What holds now, and what doesn't follow from it.
fn proved(summary: &Summary) -> (Option<String>, Option<String>) {
    let progress = &summary.progress;
    let up_to = |bound: u32| match bound {
        0 => "without preemption".to_owned(),
        1 => "with up to 1 preemption".to_owned(),
        many => format!("with up to {many} preemptions"),
    };
    let but = left_out(summary);
    match (progress.exhausted, progress.finished_bound, &progress.guarantee) {
        (true, ..) => (Some("all schedules were tried".to_owned()), None),
        (false, Some(bound), _) => (
            Some(format!(
                "all schedules {} were tried{}",
                up_to(bound),
                but.map_or(String::new(), |but| format!(", but {but}"))
            )),
            Some("nothing is known about others".to_owned()),
        ),
        (false, None, Some(guarantee)) => (Some(guarantee.clone()), but),
        (false, None, None) => (
            None,
            Some("nothing is proved".to_owned() + &but.map_or(String::new(), |but| format!(": {but}"))),
        ),
    }
}

/// What was not seen of the schedules that were tried.
fn left_out(summary: &Summary) -> Option<String> {
    let Summary { cut, fair, .. } = *summary;
    let cut = (cut > 0).then(|| format!("{} had to be given up", count(cut, "execution")));
    let fair = (fair > 0).then(|| {
        format!(
            "in {} a thread that polled, or ran for very long, was held back until others had a turn",
            count(fair, "execution")
        )
    });
    let both: Vec<String> = cut.into_iter().chain(fair).collect();
    (!both.is_empty()).then(|| both.join(", "))
}

//! `seqcst check`

use super::{headline, witness};
use crate::answer::Checked;
use crate::format::{Style, count, one_line, seconds};
use crate::{Answer, Verdict};

pub(super) fn render(answer: &Answer, checked: &Checked, style: Style) -> String {
    let head = headline(answer.verdict, style);
    let model = answer.model.map(|model| format!(" under {model}")).unwrap_or_default();
    let subject = format!("{}{model}", one_line(&answer.file));
    let (states, time) = (count(checked.states, "state"), seconds(answer.seconds));
    match (&answer.limit, &answer.witness) {
        (Some(limit), _) => format!("{head}: {subject} — {}; {states}, {time}\n", one_line(limit)),
        (None, Some(found)) if answer.verdict != Verdict::Robust => {
            let effort = format!("{states}, {}, {time}", count(checked.transitions, "transition"));
            let body = witness::explain(found, style);
            format!("{head}: {}\n{body}\n  {}\n", style.bold(&subject), style.dim(&effort))
        }
        _ => format!("{head}: {subject} — {states}, {time}\n"),
    }
}

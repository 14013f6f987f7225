//! Findings as text for a terminal: headline, source snippet, the run as a table, and the reason in words.

use crate::format::{Style, count, one_line, seconds, wrap};
use crate::view::View;
use crate::{Finding, Verdict, snippet, table, words};

/// Clauses are wrapped at this width.
const WIDTH: usize = 112;

/// The finding as text, with a newline at its end. Escape sequences for colors appear only if `color`.
pub fn render(finding: &Finding, color: bool) -> String {
    let style = Style { color };
    let head = words::verdict(&finding.verdict);
    let subject = format!("{} under {}", one_line(&finding.file), one_line(&finding.model));
    let effort = format!("{}, {}", count(finding.states, "state"), seconds(finding.seconds));
    match &finding.verdict {
        Verdict::Robust => return format!("{}: {subject} — {effort}\n", style.good(head)),
        Verdict::GaveUp(limit) => {
            return format!("{}: {subject} — {}; {effort}\n", style.warn(head), one_line(limit));
        }
        _ => {}
    }
    let Some(body) = explain(finding, color) else {
        return format!("{}: {subject} — {effort}\n", style.bad(head));
    };
    let transitions = count(finding.transitions, "transition");
    let effort = format!("{}, {transitions}, {}", count(finding.states, "state"), seconds(finding.seconds));
    format!("{}: {}\n{body}\n  {}\n", style.bad(head), style.bold(&subject), style.dim(&effort))
}

/// The witness alone, with a newline at its end: source snippet, run, reason. `None` if the finding has no witness.
pub fn explain(finding: &Finding, color: bool) -> Option<String> {
    let style = Style { color };
    let view = View::new(finding)?;
    let marks = snippet::marks(&view);
    let mut out = snippet::snippet(&view, &marks, color);
    out.push('\n');
    if let Some(initially) = table::initially(&view) {
        out.push_str(&format!("  {initially}\n\n"));
    }
    if view.rows.iter().any(|r| r.thread.is_some()) || view.end.is_some() {
        let notes: Vec<(usize, String)> =
            marks.iter().filter_map(|m| Some((m.row?, m.short.clone()))).collect();
        out.push_str(&table::table(&view, &notes, style));
    }

    let account = words::account(&view);
    out.push_str(&format!("\n  {}\n", style.bold(&account.place)));
    let key_width = account.clauses.iter().map(|(k, _)| k.chars().count()).max().unwrap_or(0);
    for (key, clause) in &account.clauses {
        let lines = wrap(&glue(clause), WIDTH.saturating_sub(key_width + 6).max(40));
        for (i, line) in lines.iter().map(|l| l.replace(GLUE, " ")).enumerate() {
            let (key, colon) = if i == 0 { (key.as_str(), ":") } else { ("", " ") };
            let pad = " ".repeat(key_width - key.chars().count());
            out.push_str(&format!("    {}{colon}{pad} {line}\n", style.accent(key)));
        }
    }
    Some(out)
}

/// A space that lines are not broken at.
const GLUE: char = '\u{1}';

/// Keeps `→po step 3` and the like together.
fn glue(clause: &str) -> String {
    let mut out = clause.to_owned();
    for word in ["step ", "→po ", "→rf ", "→mo ", "→fr ", "(no "] {
        out = out.replace(word, &format!("{}{GLUE}", word.trim_end()));
    }
    out
}

#[cfg(test)]
mod tests;

//! A witness as text: source snippet, the run as a table, and the reason in words.

use crate::format::{Style, wrap};
use crate::view::View;
use crate::{Witness, snippet, table, words};

/// Clauses are wrapped at this width.
const WIDTH: usize = 112;

/// The witness, with a newline at its end.
pub(super) fn explain(witness: &Witness, style: Style) -> String {
    let view = View::new(witness);
    let marks = snippet::marks(&view);
    let mut out = snippet::snippet(&view, &marks, style.color);
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
    out
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

//! Tables of what was measured.

use super::rows::{Measured, Row};
use crate::table::{Table, count, seconds};

impl Measured {
    /// All tables.
    pub fn report(&self) -> String {
        let of = |group: &str| self.rows.iter().filter(|row| row.group == group).cloned().collect::<Vec<_>>();
        [self.origin() + "\n", sober(&of("sober")), searches(&of("search")), speed(&of("speed"))].join("\n")
    }
}

fn yes(number: f64) -> &'static str {
    if number == 1.0 { "yes" } else { "no" }
}

fn sober(rows: &[Row]) -> String {
    let mut table = Table::new(
        &[
            "program",
            "preemptions",
            "executions",
            "borderline",
            "first violation: s",
            "repaired: executions",
            "verified",
            "s",
            "ms each",
            "without monitor",
        ],
        &["program", "verified"],
    );
    let (mut with, mut without) = (0.0, 0.0);
    let each = |seconds: f64, executions: f64| 1000.0 * seconds / executions.max(1.0);
    for row in rows {
        // Fences are steps of their own without a monitor: more schedules, so times are compared by execution.
        let (a, b) = (
            each(row.get("with"), row.get("repaired")),
            each(row.get("without"), row.get("without_executions")),
        );
        (with, without) = (with + a * row.get("repaired"), without + b * row.get("repaired"));
        let first = if row.get("found") == 1.0 { seconds(row.get("first")) } else { "–".to_owned() };
        table.row(vec![
            row.program.clone(),
            row.how.clone(),
            count(row.get("executions") as u64),
            count(row.get("borderline") as u64),
            first,
            count(row.get("repaired") as u64),
            yes(row.get("verified")).to_owned(),
            seconds(row.get("with")),
            format!("{a:.2}"),
            format!("{b:.2}"),
        ]);
    }
    let cost = 100.0 * (with / without.max(1e-9) - 1.0);
    format!(
        "{}\nAll repaired versions together: the monitor costs {cost:.0} % of the time of an execution without it.\n",
        table.markdown()
    )
}

fn searches(rows: &[Row]) -> String {
    let mut table =
        Table::new(&["program", "strategy", "found", "executions", "s"], &["program", "strategy", "found"]);
    for row in rows {
        table.row(vec![
            row.program.clone(),
            row.how.clone(),
            yes(row.get("found")).to_owned(),
            count(row.get("executions") as u64),
            seconds(row.get("first")),
        ]);
    }
    table.markdown()
}

fn speed(rows: &[Row]) -> String {
    let mut table = Table::new(&["program", "", "per second"], &["program", ""]);
    for row in rows {
        table.row(vec![row.program.clone(), row.how.clone(), count(row.get("rate") as u64)]);
    }
    table.markdown()
}

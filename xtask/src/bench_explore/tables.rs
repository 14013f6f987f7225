//! Tables of what was measured.

use super::rows::{Measured, Row};
use crate::table::{Table, count, seconds};

impl Measured {
    /// All tables.
    pub fn report(&self) -> String {
        let of = |group: &str| self.rows.iter().filter(|row| row.group == group).cloned().collect::<Vec<_>>();
        let tables =
            [sober(&of("sober")), searches(&of("search")), promises(&of("pct")), speed(&of("speed"))];
        [self.origin() + "\n", tables.join("\n")].join("\n")
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

/// How often `pct` finds bugs of known depth, and how often it must.
fn promises(rows: &[Row]) -> String {
    let columns = [
        "depth",
        "threads n",
        "steps k",
        "guarantee 1/(n·k^(d−1))",
        "measured",
        "seeds",
        "found",
        "executions",
    ];
    let mut table = Table::new(&columns, &[]);
    for row in rows {
        let depth: i32 = row.how.parse().unwrap_or(1);
        let guarantee = 1.0 / (row.get("threads") * row.get("steps").powi(depth - 1)).max(1.0);
        table.row(vec![
            row.how.clone(),
            count(row.get("threads") as u64),
            count(row.get("steps") as u64),
            format!("{guarantee:.4}"),
            format!("{:.4}", row.get("found") / row.get("executions").max(1.0)),
            count(row.get("seeds") as u64),
            count(row.get("found") as u64),
            count(row.get("executions") as u64),
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

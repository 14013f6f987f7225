//! Geometric means of ratios, and tables.

use super::rows::{Group, Measured, Row, Sample};
use crate::table::{Table, megabytes, seconds};

/// Ours beside what it is measured against.
const PAIRS: [(&str, &str, &str); 5] = [
    ("seqcst-gcc", "tsan-gcc", "seqcst : TSan, both with gcc"),
    ("seqcst-clang", "tsan-clang", "seqcst : TSan, both with clang 19"),
    ("seqcst-atomics", "tsan-clang", "seqcst atomics only : TSan, both with clang 19"),
    ("tsan-clang", "native", "TSan with clang 19 : native"),
    ("seqcst-clang", "native", "seqcst with clang 19 : native"),
];
const TOOLS: [&str; 6] = ["native", "tsan-gcc", "tsan-clang", "seqcst-gcc", "seqcst-clang", "seqcst-atomics"];

impl Measured {
    /// Everything, in words and tables for a document or a terminal.
    pub fn report(&self) -> String {
        let of = |group: Group| self.rows.iter().filter(|row| row.group == group).collect::<Vec<&Row>>();
        let mut out = self.origin() + "\n";
        for (group, title) in
            [(Group::Synthetic, "Synthetic programs"), (Group::Study, "Clients of the case studies")]
        {
            let rows = of(group);
            if !rows.is_empty() {
                let what = format!("{title}: {}. Geometric means of ratios, and the worst", rows.len());
                out += &format!("\n{what}:\n\n{}", means(&rows).markdown());
            }
        }
        let studies = of(Group::Study);
        if !studies.is_empty() {
            out += &format!(
                "\nEach of the clients, seconds of CPU and megabytes:\n\n{}",
                each(&studies).markdown()
            );
        }
        let locations = of(Group::Locations);
        if !locations.is_empty() {
            let what = "Nanoseconds of CPU for one access, by the number of locations (4 threads)";
            out += &format!("\n{what}:\n\n{}", costs(&locations).markdown());
        }
        out
    }
}

/// The ratios of each pair.
fn means(rows: &[&Row]) -> Table {
    let header = ["ratio", "CPU time", "worst", "wall-clock time", "worst ", "memory", "worst  ", "programs"];
    let mut table = Table::new(&header, &["ratio"]);
    for (ours, other, words) in PAIRS {
        let pairs: Vec<(&Sample, &Sample)> =
            rows.iter().filter_map(|row| Some((row.samples.get(ours)?, row.samples.get(other)?))).collect();
        if pairs.is_empty() {
            continue;
        }
        let mut cells = vec![words.to_owned()];
        let measures: [fn(&Sample) -> f64; 3] =
            [|s| s.usage.cpu_seconds.max(0.001), |s| s.usage.seconds.max(0.001), |s| s.usage.memory as f64];
        for measure in measures {
            let ratios: Vec<f64> = pairs.iter().map(|(a, b)| measure(a) / measure(b)).collect();
            let worst = ratios.iter().copied().fold(0.0, f64::max);
            cells.extend([format!("{:.2}×", geometric_mean(&ratios)), format!("{worst:.1}×")]);
        }
        cells.push(pairs.len().to_string());
        table.row(cells);
    }
    table
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
}

/// Seconds and memory of each program with each tool.
fn each(rows: &[&Row]) -> Table {
    let mut header = vec!["program".to_owned()];
    TOOLS.iter().for_each(|tool| header.extend([format!("{tool} s"), format!("{tool} MB")]));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header, &["program"]);
    for row in rows {
        let mut cells = vec![row.name.clone()];
        for tool in TOOLS {
            match row.samples.get(tool) {
                Some(sample) => {
                    cells.extend([seconds(sample.usage.cpu_seconds), megabytes(sample.usage.memory)])
                }
                None => cells.extend(["–".to_owned(), "–".to_owned()]),
            }
        }
        table.row(cells);
    }
    table
}

/// Nanoseconds per access; the number of accesses is in the arguments of all these programs.
fn costs(rows: &[&Row]) -> Table {
    const ACCESSES: f64 = 1e6;
    let header = [&["locations"], &TOOLS[..]].concat();
    let mut table = Table::new(&header, &[]);
    for row in rows {
        let locations = row.name.split(' ').find_map(|word| word.strip_prefix('l')?.parse::<u64>().ok());
        let mut cells = vec![locations.map_or(row.name.clone(), crate::table::count)];
        cells.extend(TOOLS.iter().map(|tool| {
            row.samples.get(*tool).map_or("–".to_owned(), |sample| {
                format!("{:.0}", sample.usage.cpu_seconds * 1e9 / ACCESSES)
            })
        }));
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Usage;

    #[test]
    fn ratios_are_averaged() {
        let sample =
            |cpu_seconds: f64| Sample { usage: Usage { seconds: 1.0, cpu_seconds, memory: 1 }, found: false };
        let row = |ours, other| Row {
            group: Group::Synthetic,
            name: "a".to_owned(),
            samples: [("seqcst-gcc".to_owned(), sample(ours)), ("tsan-gcc".to_owned(), sample(other))].into(),
        };
        let rows = [row(1.0, 4.0), row(4.0, 4.0)];
        let text = means(&rows.iter().collect::<Vec<_>>()).markdown();
        assert!(text.contains("| 0.50× | 1.0× | 1.00× | 1.0× |"), "{text}");
    }
}

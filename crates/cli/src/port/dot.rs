//! The pairs at fault and the cycles that they are on, as a graph for Graphviz.

use super::answer::{Answer, Loaded};
use seqcst_port::robust::Site;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A box for each access, a red arrow for each pair at fault, gray ones for the rest of a cycle.
pub fn draw(loaded: &Loaded, answer: &Answer) -> String {
    let mut accesses: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut faults: BTreeSet<((usize, usize), (usize, usize))> = BTreeSet::new();
    let mut others: BTreeSet<((usize, usize), (usize, usize))> = BTreeSet::new();
    let key = |site: Site| (site.function, site.node);
    for fault in &answer.placement.before.faults {
        faults.insert((key(fault.first), key(fault.second)));
        accesses.extend([key(fault.first), key(fault.second)]);
        accesses.extend(fault.cycle.iter().map(|&site| key(site)));
        others.extend(fault.cycle.windows(2).map(|two| (key(two[0]), key(two[1]))));
    }
    let mut out = String::from("digraph port {\n  node [shape=box, fontname=\"monospace\"];\n");
    let title = format!("{}: {} → {}", loaded.name, answer.from, answer.to);
    let _ = writeln!(out, "  label=\"{}\";", escape(&title));
    for &(function, node) in &accesses {
        let access = loaded.access(Site { function, node, write: false });
        let place = access.place.as_ref().map(|place| format!("line {}", place.line)).unwrap_or_default();
        let label = format!("{}\n{} {}\n{place}", access.function, access.what, access.location);
        let _ = writeln!(out, "  a{function}_{node} [label=\"{}\"];", escape(&label));
    }
    for ((f, a), (g, b)) in &faults {
        let _ = writeln!(out, "  a{f}_{a} -> a{g}_{b} [color=red, label=\"po\"];");
    }
    for ((f, a), (g, b)) in others.difference(&faults) {
        let style = if f == g { "solid" } else { "dashed" };
        let _ = writeln!(out, "  a{f}_{a} -> a{g}_{b} [color=gray40, style={style}];");
    }
    out.push_str("}\n");
    out
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

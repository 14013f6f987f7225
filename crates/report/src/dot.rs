//! The execution graph in Graphviz's language: threads as clusters, edges coloured by relation.

use crate::answer::{Access, Ported};
use crate::format::one_line;
use crate::view::View;
use crate::{Answer, Details, Relation, Witness, words};
use std::collections::{BTreeMap, BTreeSet};

/// The answer's witness, or its pairs of accesses, as a DOT graph; `None` if there is nothing to draw.
pub fn to_dot(answer: &Answer) -> Option<String> {
    match (&answer.details, &answer.witness) {
        (Details::Port(ported), _) => Some(pairs(&answer.file, ported)),
        (_, witness) => witness.as_ref().map(execution),
    }
}

/// A box for each access, a red arrow for each pair at fault, gray ones for the rest of a cycle.
fn pairs(file: &str, ported: &Ported) -> String {
    let mut accesses: BTreeMap<(usize, usize), &Access> = BTreeMap::new();
    let (mut faults, mut others) = (BTreeSet::new(), BTreeSet::new());
    for pair in &ported.pairs {
        faults.insert((pair.first.id, pair.second.id));
        others.extend(pair.cycle.windows(2).map(|two| (two[0].id, two[1].id)));
        let all = [&pair.first, &pair.second].into_iter().chain(&pair.cycle);
        accesses.extend(all.map(|access| (access.id, access)));
    }
    let mut out = String::from("digraph port {\n  node [shape=box, fontname=\"monospace\"];\n");
    out += &format!("  label={};\n", quote(&format!("{file}: {} → {}", ported.from, ported.to)));
    for ((function, node), access) in &accesses {
        let place = access.place.as_ref().map(|place| format!("line {}", place.line)).unwrap_or_default();
        let label = format!("{}\n{} {}\n{place}", access.function, access.access, access.location);
        out += &format!("  a{function}_{node} [label={}];\n", quote(&label));
    }
    for ((f, a), (g, b)) in &faults {
        out += &format!("  a{f}_{a} -> a{g}_{b} [color=red, label=\"po\"];\n");
    }
    for ((f, a), (g, b)) in others.difference(&faults) {
        let style = if f == g { "solid" } else { "dashed" };
        out += &format!("  a{f}_{a} -> a{g}_{b} [color=gray40, style={style}];\n");
    }
    out + "}\n"
}

/// An execution graph.
fn execution(witness: &Witness) -> String {
    let view = View::new(witness);
    let title = witness.title();
    let mut out = String::from("digraph execution {\n");
    out.push_str(&format!("  label={}; labelloc=t; fontname=\"Helvetica\";\n", quote(&title)));
    out.push_str("  node [shape=box, style=rounded, fontname=\"Courier\", fontsize=11];\n");
    out.push_str("  edge [fontname=\"Helvetica\", fontsize=10];\n");

    out.push_str("  { rank=same;\n");
    for (i, row) in view.rows.iter().enumerate() {
        if row.thread.is_none() && view.touched(i) {
            out.push_str(&format!("    e{i} [label={}, color=gray50];\n", quote(&view.label(i))));
        }
    }
    out.push_str("  }\n");
    for thread in view.active_threads() {
        let name = quote(&view.thread_name(thread));
        out.push_str(&format!("  subgraph cluster_{thread} {{\n    label={name}; color=gray80;\n"));
        for (i, row) in view.rows.iter().enumerate().filter(|(_, r)| r.thread == Some(thread)) {
            let mut lines = vec![format!("{}: {}", row.step, view.statement(i)), view.label(i)];
            lines.retain(|line| !line.is_empty());
            let mut look = "";
            if view.guilty(i) {
                look = ", color=\"#dc2626\", penwidth=2";
                if let Some(stale) = words::stale(&view) {
                    lines.push(format!("SC: {}", stale.sc));
                    lines.push(format!("{}: {}", witness.model, stale.weak));
                }
            }
            out.push_str(&format!("    e{i} [label={}{look}];\n", quote(&lines.join("\n"))));
        }
        if let Some(end) = view.end.as_ref().filter(|e| e.thread == thread) {
            let text = quote(&format!("{}\n{}", one_line(end.text), end.what));
            out.push_str(&format!("    end [label={text}, color=\"#dc2626\", penwidth=2];\n"));
        }
        out.push_str("  }\n");
    }

    for link in &view.links {
        let (color, name) = (color(link.relation), words::relation(link.relation));
        let bold = if link.cycle { ", penwidth=3" } else { "" };
        // Time flows down.
        let up = if link.to < link.from { ", constraint=false" } else { "" };
        out.push_str(&format!(
            "  e{} -> e{} [label=\"{name}\", color=\"{color}\", fontcolor=\"{color}\"{bold}{up}];\n",
            link.from, link.to
        ));
    }
    if let Some(end) = &view.end
        && let Some(last) = view.rows.iter().rposition(|r| r.thread == Some(end.thread))
    {
        out.push_str(&format!("  e{last} -> end [color=\"{}\"];\n", color(Relation::Po)));
    }
    if let Some((from, to)) = view.unordered() {
        out.push_str(&format!(
            "  e{from} -> e{to} [label=\"no hb\", style=dashed, color=\"#dc2626\", fontcolor=\"#dc2626\", constraint=false];\n"
        ));
    }
    out.push_str(&legend(&view));
    out.push_str("}\n");
    out
}

fn legend(view: &View) -> String {
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for relation in [Relation::Po, Relation::Rf, Relation::Mo, Relation::Fr] {
        if view.links.iter().any(|l| l.relation == relation) {
            lines.push((color(relation), meaning(relation)));
        }
    }
    if view.links.iter().any(|l| l.cycle) {
        lines.push(("black", "bold: the cycle that SC forbids"));
    }
    if view.unordered().is_some() {
        lines.push(("#dc2626", "dashed: no happens-before"));
    }
    if lines.is_empty() {
        return String::new();
    }
    let rows: Vec<String> = lines
        .iter()
        .map(|(color, text)| {
            format!("<tr><td align=\"left\"><font color=\"{color}\">{text}</font></td></tr>")
        })
        .collect();
    format!(
        "  legend [shape=plaintext, fontname=\"Helvetica\", label=<<table border=\"0\">{}</table>>];\n",
        rows.concat()
    )
}

/// A relation's colour, on white.
fn color(relation: Relation) -> &'static str {
    match relation {
        Relation::Po => "#64748b",
        Relation::Rf => "#15803d",
        Relation::Mo => "#2563eb",
        Relation::Fr => "#9333ea",
    }
}

/// A relation's meaning, for legends.
pub(crate) fn meaning(relation: Relation) -> &'static str {
    match relation {
        Relation::Po => "po: program order",
        Relation::Rf => "rf: reads from",
        Relation::Mo => "mo: modification order",
        Relation::Fr => "fr: from-read",
    }
}

/// A quoted string; newlines break lines.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests;

//! The execution graph as an SVG drawing of our own: no Graphviz, no fonts, no scripts.
//!
//! Threads are columns, time flows down, the cycle that SC forbids glows. Colours follow the reader's light or dark
//! scheme. `boxes` says what to draw, `layout` (with `lanes`) where, `paint` in which characters.

mod boxes;
mod lanes;
mod layout;
mod paint;

use crate::dot::meaning;
use crate::format::{cut, one_line};
use crate::view::View;
use crate::{Answer, Relation, Witness, words};
use boxes::{Kind, LINE, Look, Node, PAD};
use layout::{HEADER, Layout, MARGIN};
use paint::{class, escape, n};

const STYLE: &str = include_str!("style.css");

/// The answer's witness as an SVG document; `None` if there is none.
pub fn to_svg(answer: &Answer) -> Option<String> {
    answer.witness.as_ref().map(execution)
}

/// An execution graph.
fn execution(witness: &Witness) -> String {
    let view = View::new(witness);
    let title = cut(&witness.title(), 110);
    let layout = layout::layout(boxes::graph(&view), 54.0);
    let (legend, legend_width, legend_height) = legend(&view, layout.width, layout.bottom + 16.0);
    let width = layout.width.max(title.chars().count() as f64 * 8.6 + 2.0 * MARGIN).max(legend_width);
    let height = layout.bottom + 16.0 + legend_height;

    let mut out = String::new();
    let (w, h) = (n(width), n(height));
    out.push_str(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"seqcst\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"0 0 {w} {h}\" role=\"img\">\n"
    ));
    let account = one_line(&words::account(&view).sentence);
    out.push_str(&format!("<title>{}</title>\n<desc>{}</desc>\n", escape(&title), escape(&account)));
    out.push_str(&format!("<style>\n{STYLE}</style>\n<defs>\n"));
    for kind in ["po", "rf", "mo", "fr", "no-hb"] {
        out.push_str(&format!(
            "<marker id=\"seqcst-{kind}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" \
             markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path class=\"head {kind}\" d=\"M0 1L10 5L0 9Z\"/></marker>\n"
        ));
    }
    out.push_str("</defs>\n");
    out.push_str(&format!("<rect class=\"page\" width=\"{w}\" height=\"{h}\"/>\n"));
    out.push_str(&format!("<text class=\"title\" x=\"{}\" y=\"32\">{}</text>\n", n(MARGIN), escape(&title)));
    // Centred if the title or the legend is wider than the drawing.
    let shift = (width - layout.width) / 2.0;
    out.push_str(&format!("<g transform=\"translate({} 0)\">\n", n(shift)));
    body(&layout, &mut out);
    out.push_str("</g>\n");
    out.push_str(&legend);
    out.push_str("</svg>\n");
    out
}

fn body(layout: &Layout, out: &mut String) {
    for (name, x, w) in &layout.columns {
        let (top, bottom) = (layout.header, layout.bottom);
        out.push_str(&format!(
            "<rect class=\"lane\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n",
            n(x - 8.0),
            n(top),
            n(w + 16.0),
            n(bottom - top)
        ));
        out.push_str(&format!(
            "<text class=\"thread\" x=\"{}\" y=\"{}\">{}</text>\n",
            n(x + w / 2.0),
            n(top + HEADER - 6.0),
            escape(name)
        ));
    }
    for (_, points) in layout.wires.iter().filter(|(w, _)| w.cycle) {
        out.push_str(&format!("<path class=\"glow\" d=\"{}\"/>\n", paint::path(points)));
    }
    for (wire, points) in &layout.wires {
        let (class, d) = (class(wire.kind), paint::path(points));
        let cycle = if wire.cycle { " cycle" } else { "" };
        out.push_str(&format!(
            "<path class=\"wire {class}{cycle}\" marker-end=\"url(#seqcst-{class})\" d=\"{d}\"/>\n"
        ));
    }
    for node in &layout.nodes {
        draw(node, out);
    }
    for tag in paint::tags(&layout.wires, &layout.nodes) {
        out.push_str(&format!(
            "<rect class=\"tag\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" rx=\"4\"/>\
             <text class=\"tag {}\" x=\"{}\" y=\"{}\">{}</text>\n",
            n(tag.x - tag.w / 2.0),
            n(tag.y - 7.0),
            n(tag.w),
            class(tag.kind),
            n(tag.x),
            n(tag.y + 3.5),
            tag.text
        ));
    }
}

fn draw(node: &Node, out: &mut String) {
    let look = match node.look {
        Look::Initial => "initial",
        Look::Plain => "step",
        Look::Guilty => "guilty",
    };
    out.push_str(&format!("<g class=\"{look}\"><title>{}</title>", escape(&node.tip)));
    out.push_str(&format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"7\"/>",
        n(node.x),
        n(node.y),
        n(node.w),
        n(node.h)
    ));
    let mut left = node.x + PAD;
    let top = node.y + (node.h - node.lines.len() as f64 * LINE) / 2.0;
    if let Some(step) = node.step {
        let (x, y) = (n(left + 8.0), top + LINE / 2.0);
        out.push_str(&format!("<circle class=\"badge\" cx=\"{x}\" cy=\"{}\" r=\"10\"/>", n(y)));
        out.push_str(&format!("<text class=\"badge\" x=\"{x}\" y=\"{}\">{step}</text>", n(y + 3.5)));
        left += 26.0;
    }
    for (i, line) in node.lines.iter().enumerate() {
        let y = n(top + i as f64 * LINE + 12.0);
        let (class, text) = (line.class, escape(&line.text));
        let (x, class) = if node.look == Look::Initial {
            (n(node.x + node.w / 2.0), format!("{class} middle"))
        } else {
            (n(left), class.to_owned())
        };
        out.push_str(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
        if !line.right.is_empty() {
            let x = n(node.x + node.w - PAD);
            out.push_str(&format!("<text class=\"dim end\" x=\"{x}\" y=\"{y}\">{}</text>", line.right));
        }
    }
    out.push_str("</g>\n");
}

/// The legend, the width it needs, and its height.
fn legend(view: &View, width: f64, top: f64) -> (String, f64, f64) {
    let mut items: Vec<(&str, &str)> = Vec::new();
    for relation in [Relation::Po, Relation::Rf, Relation::Mo, Relation::Fr] {
        let end = relation == Relation::Po && view.end.is_some();
        if end || view.links.iter().any(|l| l.relation == relation) {
            items.push((class(Kind::Relation(relation)), meaning(relation)));
        }
    }
    if view.links.iter().any(|l| l.cycle) {
        items.push(("glow", "the cycle that SC forbids"));
    }
    if view.unordered().is_some() {
        items.push(("no-hb", "no happens-before"));
    }
    let (mut x, mut y, mut out, mut right) = (MARGIN, top + 6.0, String::new(), 0.0_f64);
    let limit = width.max(420.0) - MARGIN;
    for (class, text) in &items {
        let w = 34.0 + text.chars().count() as f64 * 6.2 + 18.0;
        if x > MARGIN && x + w > limit {
            (x, y) = (MARGIN, y + 20.0);
        }
        let line = format!("M{} {}h26", n(x), n(y));
        out.push_str(&match *class {
            "glow" => format!("<path class=\"glow\" d=\"{line}\"/>"),
            _ => format!("<path class=\"wire {class}\" marker-end=\"url(#seqcst-{class})\" d=\"{line}\"/>"),
        });
        out.push_str(&format!(
            "<text class=\"legend\" x=\"{}\" y=\"{}\">{}</text>\n",
            n(x + 34.0),
            n(y + 4.0),
            escape(text)
        ));
        x += w;
        right = right.max(x);
    }
    (out, right + MARGIN, y - top + 18.0)
}

#[cfg(test)]
mod tests;

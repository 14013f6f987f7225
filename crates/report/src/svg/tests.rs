//! Structural checks of the drawings.

use super::*;
use crate::samples;
use crate::svg::layout::Point;
use roxmltree::{Document, Node as Element};

fn drawings() -> Vec<(&'static str, Answer, String)> {
    samples::all().into_iter().filter_map(|(name, f)| to_svg(&f).map(|svg| (name, f, svg))).collect()
}

/// Writes the drawings to the folder `SEQCST_SVG`, to look at.
#[test]
fn write_samples() {
    let Ok(folder) = std::env::var("SEQCST_SVG") else { return };
    for (name, _, svg) in drawings() {
        std::fs::write(format!("{folder}/{name}.svg"), svg).expect("writable folder");
    }
}

fn class<'a>(element: &Element<'a, '_>) -> &'a str {
    element.attribute("class").unwrap_or("")
}

#[test]
fn well_formed_and_complete() {
    for (name, answer, svg) in drawings() {
        let document = Document::parse(&svg).unwrap_or_else(|e| panic!("{name}: {e}"));
        let view = View::new(answer.witness.as_ref().expect("a witness"));
        let boxes = |look: &str| document.descendants().filter(|e| class(e) == look).count();
        let steps = view.rows.iter().filter(|r| r.thread.is_some()).count() + usize::from(view.end.is_some());
        assert_eq!(boxes("step") + boxes("guilty"), steps, "{name}");
        let initial = (0..view.rows.len()).filter(|&i| view.rows[i].thread.is_none() && view.touched(i));
        assert_eq!(boxes("initial"), initial.count(), "{name}");

        let tips: Vec<&str> =
            document.descendants().filter(|e| e.has_tag_name("title")).filter_map(|e| e.text()).collect();
        for (i, row) in view.rows.iter().enumerate().filter(|(_, r)| r.thread.is_some()) {
            let tip = format!("step {}: {} [", row.step, view.statement(i));
            assert!(tips.iter().any(|t| t.starts_with(&tip)), "{name}: {tip}");
        }
        for thread in view.active_threads() {
            let thread = view.thread_name(thread);
            assert!(
                document.descendants().any(|e| class(&e) == "thread" && e.text() == Some(&thread)),
                "{name}"
            );
        }
        let glows = document.descendants().filter(|e| class(e) == "glow").count();
        let cycle = view.links.iter().filter(|l| l.cycle).count();
        assert_eq!(glows, cycle + usize::from(cycle > 0), "{name}: the cycle and its legend");
    }
}

#[test]
fn deterministic() {
    for (name, answer, svg) in drawings() {
        assert_eq!(to_svg(&answer), Some(svg), "{name}");
    }
}

#[test]
fn no_witness_no_drawing() {
    assert_eq!(to_svg(&samples::robust()), None);
    assert_eq!(to_svg(&samples::gave_up()), None);
}

#[test]
fn odd_input_is_no_panic() {
    for answer in samples::odd() {
        if let Some(svg) = to_svg(&answer) {
            Document::parse(&svg).expect("well-formed");
        }
    }
}

/// Whether the segment has a point strictly inside of the box.
fn pierces(a: Point, b: Point, node: &Node) -> bool {
    let (left, right) = (a.0.min(b.0), a.0.max(b.0));
    let (top, bottom) = (a.1.min(b.1), a.1.max(b.1));
    left < node.x + node.w - 0.5
        && right > node.x + 0.5
        && top < node.y + node.h - 0.5
        && bottom > node.y + 0.5
}

/// How much of a stretch two parallel segments share, if they are on the same line.
fn shared((a, b): (Point, Point), (c, d): (Point, Point)) -> f64 {
    let flip = |p: Point| if a.0 == b.0 { (p.1, p.0) } else { p };
    let (a, b, c, d) = (flip(a), flip(b), flip(c), flip(d));
    if (c.1 - d.1).abs() > 0.0 || (a.1 - c.1).abs() > 4.0 {
        return 0.0;
    }
    a.0.max(b.0).min(c.0.max(d.0)) - a.0.min(b.0).max(c.0.min(d.0))
}

fn check_layout(name: &str, answer: &Answer) {
    let Some(view) = answer.witness.as_ref().map(View::new) else { return };
    let layout = layout::layout(boxes::graph(&view), 54.0);
    let segments = |i: usize| layout.wires[i].1.windows(2).map(|s| (s[0], s[1]));
    for i in 0..layout.wires.len() {
        for (a, b) in segments(i) {
            assert!(a.0 == b.0 || a.1 == b.1, "{name}: wire {i} is slanted");
            assert!(!layout.nodes.iter().any(|n| pierces(a, b, n)), "{name}: wire {i} runs through a box");
            for (j, other) in (0..i).flat_map(|j| segments(j).map(move |s| (j, s))) {
                assert!(shared((a, b), other) < 1.0, "{name}: wires {i} and {j} overlap");
            }
        }
    }
    for node in &layout.nodes {
        assert!(node.x >= 0.0 && node.x + node.w <= layout.width, "{name}: a box sticks out");
    }
}

#[test]
fn wires_keep_out_of_boxes_and_off_each_other() {
    for (name, answer) in samples::all() {
        check_layout(name, &answer);
    }
}

#[test]
fn random_graphs_too() {
    for seed in 0..300 {
        let answer = samples::random(seed, 14);
        check_layout(&format!("seed {seed}"), &answer);
        Document::parse(&to_svg(&answer).expect("a witness")).expect("well-formed");
    }
}

#[test]
fn long_runs_are_drawn_in_reasonable_time() {
    let start = std::time::Instant::now();
    assert!(to_svg(&samples::random(7, 400)).is_some());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn strings_are_escaped() {
    assert_eq!(escape("<a & \"b\"'\u{1b}\u{ffff}>"), "&lt;a &amp; &quot;b&quot;&#39;&gt;");
}

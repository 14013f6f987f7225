//! DOT snapshots, renewed with `UPDATE_EXPECT=1`.

use super::*;
use crate::samples;
use expect_test::{Expect, expect};

fn check(answer: &Answer, expected: Expect) {
    expected.assert_eq(&to_dot(answer).unwrap_or_default());
}

#[test]
fn stale_read() {
    check(
        &samples::sb(),
        expect![[r##"
            digraph execution {
              label="not robust: sb.tpl under rc20"; labelloc=t; fontname="Helvetica";
              node [shape=box, style=rounded, fontname="Courier", fontsize=11];
              edge [fontname="Helvetica", fontsize=10];
              { rank=same;
                e0 [label="W x 0", color=gray50];
                e1 [label="W y 0", color=gray50];
              }
              subgraph cluster_0 {
                label="t1"; color=gray80;
                e2 [label="1: x.store(1, rlx)\nW.rlx x 1"];
                e3 [label="2: a = y.load(rlx)\nR.rlx y 0"];
              }
              subgraph cluster_1 {
                label="t2"; color=gray80;
                e4 [label="3: y.store(1, rlx)\nW.rlx y 1"];
                e5 [label="4: b = x.load(rlx)\nR.rlx x 0\nSC: reads 1 from step 1\nrc20: may read 0 from the initial write", color="#dc2626", penwidth=2];
              }
              e2 -> e3 [label="po", color="#64748b", fontcolor="#64748b", penwidth=3];
              e3 -> e4 [label="fr", color="#9333ea", fontcolor="#9333ea", penwidth=3];
              e4 -> e5 [label="po", color="#64748b", fontcolor="#64748b", penwidth=3];
              e5 -> e2 [label="fr", color="#9333ea", fontcolor="#9333ea", penwidth=3, constraint=false];
              e0 -> e2 [label="mo", color="#2563eb", fontcolor="#2563eb"];
              e1 -> e4 [label="mo", color="#2563eb", fontcolor="#2563eb"];
              e1 -> e3 [label="rf", color="#15803d", fontcolor="#15803d"];
              e0 -> e5 [label="rf", color="#15803d", fontcolor="#15803d"];
              e2 -> e5 [label="no hb", style=dashed, color="#dc2626", fontcolor="#dc2626", constraint=false];
              legend [shape=plaintext, fontname="Helvetica", label=<<table border="0"><tr><td align="left"><font color="#64748b">po: program order</font></td></tr><tr><td align="left"><font color="#15803d">rf: reads from</font></td></tr><tr><td align="left"><font color="#2563eb">mo: modification order</font></td></tr><tr><td align="left"><font color="#9333ea">fr: from-read</font></td></tr><tr><td align="left"><font color="black">bold: the cycle that SC forbids</font></td></tr><tr><td align="left"><font color="#dc2626">dashed: no happens-before</font></td></tr></table>>];
            }
        "##]],
    );
}

#[test]
fn deadlock() {
    check(
        &samples::deadlock(),
        expect![[r##"
            digraph execution {
              label="deadlock: locks.tpl under rc20"; labelloc=t; fontname="Helvetica";
              node [shape=box, style=rounded, fontname="Courier", fontsize=11];
              edge [fontname="Helvetica", fontsize=10];
              { rank=same;
                e0 [label="W m 0", color=gray50];
                e1 [label="W n 0", color=gray50];
              }
              subgraph cluster_0 {
                label="left"; color=gray80;
                e2 [label="1: lock(m)\nU.acq m 0→1"];
                end [label="lock(n)\nstuck", color="#dc2626", penwidth=2];
              }
              subgraph cluster_1 {
                label="right"; color=gray80;
                e3 [label="2: lock(n)\nU.acq n 0→1"];
              }
              e0 -> e2 [label="rf", color="#15803d", fontcolor="#15803d"];
              e0 -> e2 [label="mo", color="#2563eb", fontcolor="#2563eb"];
              e1 -> e3 [label="rf", color="#15803d", fontcolor="#15803d"];
              e1 -> e3 [label="mo", color="#2563eb", fontcolor="#2563eb"];
              e2 -> end [color="#64748b"];
              legend [shape=plaintext, fontname="Helvetica", label=<<table border="0"><tr><td align="left"><font color="#15803d">rf: reads from</font></td></tr><tr><td align="left"><font color="#2563eb">mo: modification order</font></td></tr></table>>];
            }
        "##]],
    );
}

/// Writes the graphs to the folder `SEQCST_DOT`, to look at.
#[test]
fn write_samples() {
    let Ok(folder) = std::env::var("SEQCST_DOT") else { return };
    for (name, answer) in samples::all() {
        if let Some(dot) = to_dot(&answer) {
            std::fs::write(format!("{folder}/{name}.dot"), dot).expect("writable folder");
        }
    }
}

#[test]
fn braces_balance_and_no_witness_is_none() {
    for (name, answer) in samples::all() {
        let Some(dot) = to_dot(&answer) else {
            assert!(answer.witness.is_none(), "{name}");
            continue;
        };
        assert_eq!(dot.matches('{').count(), dot.matches('}').count(), "{name}");
    }
}

#[test]
fn odd_input_is_no_panic() {
    for answer in samples::odd() {
        to_dot(&answer);
    }
    assert_eq!(quote("a\"\\\n\u{7}"), "\"a\\\"\\\\\\n \"");
}

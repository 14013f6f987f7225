//! JSON snapshots, renewed with `UPDATE_EXPECT=1`, and their agreement with the documentation.

use super::*;
use crate::samples;
use expect_test::{Expect, expect};
use serde_json::Value;
use std::collections::BTreeSet;

fn check(finding: &Finding, expected: Expect) {
    expected.assert_eq(&to_json(finding));
}

#[test]
fn stale_read() {
    check(
        &samples::sb(),
        expect![[
            r#"{"file":"sb.tpl","model":"rc20","verdict":"not-robust","states":1234,"transitions":4321,"seconds":0.021235,"threads":2,"witness":{"initial":[{"id":0,"label":"W x 0","location":"x"},{"id":1,"label":"W y 0","location":"y"}],"steps":[{"id":2,"step":1,"thread":"t1","label":"W.rlx x 1","location":"x","text":"x.store(1, rlx)","line":5,"column":5},{"id":3,"step":2,"thread":"t1","label":"R.rlx y 0","location":"y","text":"a = y.load(rlx)","line":6,"column":5},{"id":4,"step":3,"thread":"t2","label":"W.rlx y 1","location":"y","text":"y.store(1, rlx)","line":11,"column":5},{"id":5,"step":4,"thread":"t2","label":"R.rlx x 0","location":"x","text":"b = x.load(rlx)","line":12,"column":5}],"edges":[{"from":2,"to":3,"relation":"po"},{"from":4,"to":5,"relation":"po"},{"from":0,"to":2,"relation":"mo"},{"from":1,"to":4,"relation":"mo"},{"from":1,"to":3,"relation":"rf"},{"from":3,"to":4,"relation":"fr"},{"from":0,"to":5,"relation":"rf"},{"from":5,"to":2,"relation":"fr"}],"problem":{"kind":"stale","access":5,"latest":2,"older":0,"reads":true,"path":[{"from":2,"to":3,"relation":"po"},{"from":3,"to":4,"relation":"fr"},{"from":4,"to":5,"relation":"po"}],"cycle":[{"from":2,"to":3,"relation":"po"},{"from":3,"to":4,"relation":"fr"},{"from":4,"to":5,"relation":"po"},{"from":5,"to":2,"relation":"fr"}],"axiom":"po ∪ rf ∪ mo ∪ fr has a cycle","message":"step 4, `b = x.load(rlx)` in t2 (line 12): under SC it must read 1 from step 1, because step 1 →po step 2 →fr step 3 →po step 4; under rc20 it may still read 0 from the initial write: nothing synchronises step 1 with t2 (no happens-before)"}}}"#
        ]],
    );
}

#[test]
fn race() {
    check(
        &samples::race(),
        expect![[
            r#"{"file":"mp.tpl","model":"rc20","verdict":"race","states":1234,"transitions":4321,"seconds":0.021235,"threads":2,"witness":{"initial":[{"id":0,"label":"W flag 0","location":"flag"},{"id":1,"label":"W data 0","location":"data"}],"steps":[{"id":2,"step":1,"thread":"producer","label":"W.na data 42","location":"data","text":"data = 42","line":3,"column":15},{"id":3,"step":2,"thread":"producer","label":"W.rlx flag 1","location":"flag","text":"flag.store(1, rlx)","line":3,"column":26},{"id":4,"step":3,"thread":"consumer","label":"R.rlx flag 1","location":"flag","text":"wait(flag = 1, rlx)","line":4,"column":24},{"id":5,"step":4,"thread":"consumer","label":"R.na data 42","location":"data","text":"r = data","line":4,"column":45}],"edges":[{"from":2,"to":3,"relation":"po"},{"from":4,"to":5,"relation":"po"},{"from":0,"to":3,"relation":"mo"},{"from":1,"to":2,"relation":"mo"},{"from":3,"to":4,"relation":"rf"},{"from":2,"to":5,"relation":"rf"}],"problem":{"kind":"race","first":2,"second":5,"message":"step 1, `data = 42` in producer (line 3) races with step 4, `r = data` in consumer (line 4): both access data, not both read it, and no happens-before orders them"}}}"#
        ]],
    );
}

#[test]
fn without_witness() {
    check(
        &samples::robust(),
        expect![[
            r#"{"file":"dekker.tpl","model":"ra","verdict":"robust","states":1234,"transitions":4321,"seconds":0.021235,"threads":2}"#
        ]],
    );
    check(
        &samples::gave_up(),
        expect![[
            r#"{"file":"big.tpl","model":"tso","verdict":"gave-up","limit":"limit of 10,000,000 states reached at depth 57","states":10000000,"transitions":4321,"seconds":61.5,"threads":3}"#
        ]],
    );
}

#[test]
fn a_fence_is_one_step() {
    let value = to_json_value(&samples::fenced());
    let steps = value["witness"]["steps"].as_array().expect("steps");
    let shown: Vec<String> = steps
        .iter()
        .map(|s| format!("{} {} {}", s["step"], s["label"].as_str().unwrap_or(""), s["hidden"]))
        .collect();
    expect![[r#"
        1 W.rlx x 1 null
        2 F.acq true
        2 U.acq_rel - 0→0 true
        2 F.rel true
        3 R.rlx y 0 null
        4 W.rlx y 1 null
        5 R.rlx x 0 null"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn one_line_each_and_equal_to_the_value() {
    let samples = samples::all().into_iter().map(|(_, f)| f);
    for finding in samples.chain(samples::odd()) {
        let line = to_json(&finding);
        assert!(!line.contains('\n'));
        let parsed: Value = serde_json::from_str(&line).expect("valid JSON");
        assert_eq!(parsed, to_json_value(&finding));
    }
}

/// Every field that appears has a row in `docs/json.md`, and every row's field appears in some sample. The fields that
/// `seqcst explore` and `seqcst library` add stand in sections of their own, which their own tests look at.
#[test]
fn documented() {
    fn fields(value: &Value, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                out.insert(key.clone());
                fields(value, out);
            }),
            Value::Array(values) => values.iter().for_each(|v| fields(v, out)),
            _ => {}
        }
    }
    let mut used = BTreeSet::new();
    for (_, finding) in samples::all() {
        fields(&to_json_value(&finding), &mut used);
    }
    let page = include_str!("../../../../docs/json.md");
    let sections = page.split("\n## ").filter(|section| !section.starts_with("`seqcst "));
    let rows = sections.flat_map(str::lines).filter_map(|l| l.strip_prefix("| `")?.split_once('`'));
    let documented: BTreeSet<String> = rows.map(|(field, _)| field.to_owned()).collect();
    assert_eq!(used, documented);
}

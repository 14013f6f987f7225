//! JSON snapshots and the JSON Schema, renewed with `UPDATE_EXPECT=1`, and their agreement with the documentation.

use crate::Answer;
use crate::samples;
use expect_test::{Expect, expect, expect_file};
use serde_json::Value;
use std::collections::BTreeSet;

fn value(answer: &Answer) -> Value {
    serde_json::to_value(answer).expect("a value")
}

fn check(answer: &Answer, expected: Expect) {
    expected.assert_eq(&answer.to_json());
}

#[test]
fn stale_read() {
    check(
        &samples::sb(),
        expect![[
            r#"{"schema":1,"file":"sb.tpl","model":"rc20","verdict":"not-robust","seconds":0.021235,"states":1234,"transitions":4321,"threads":2,"assumptions":[],"witness":{"initial":[{"id":0,"label":"W x 0","location":"x"},{"id":1,"label":"W y 0","location":"y"}],"steps":[{"id":2,"step":1,"thread":"t1","label":"W.rlx x 1","location":"x","text":"x.store(1, rlx)","line":5,"column":5},{"id":3,"step":2,"thread":"t1","label":"R.rlx y 0","location":"y","text":"a = y.load(rlx)","line":6,"column":5},{"id":4,"step":3,"thread":"t2","label":"W.rlx y 1","location":"y","text":"y.store(1, rlx)","line":11,"column":5},{"id":5,"step":4,"thread":"t2","label":"R.rlx x 0","location":"x","text":"b = x.load(rlx)","line":12,"column":5}],"edges":[{"from":2,"to":3,"relation":"po"},{"from":4,"to":5,"relation":"po"},{"from":0,"to":2,"relation":"mo"},{"from":1,"to":4,"relation":"mo"},{"from":1,"to":3,"relation":"rf"},{"from":3,"to":4,"relation":"fr"},{"from":0,"to":5,"relation":"rf"},{"from":5,"to":2,"relation":"fr"}],"problem":{"kind":"stale","access":5,"latest":2,"older":0,"reads":true,"path":[{"from":2,"to":3,"relation":"po"},{"from":3,"to":4,"relation":"fr"},{"from":4,"to":5,"relation":"po"}],"cycle":[{"from":2,"to":3,"relation":"po"},{"from":3,"to":4,"relation":"fr"},{"from":4,"to":5,"relation":"po"},{"from":5,"to":2,"relation":"fr"}],"axiom":"po ∪ rf ∪ mo ∪ fr has a cycle","message":"step 4, `b = x.load(rlx)` in t2 (line 12): under SC it must read 1 from step 1, because step 1 →po step 2 →fr step 3 →po step 4; under rc20 it may still read 0 from the initial write: nothing synchronises step 1 with t2 (no happens-before)"}}}"#
        ]],
    );
}

#[test]
fn race() {
    check(
        &samples::race(),
        expect![[
            r#"{"schema":1,"file":"mp.tpl","model":"rc20","verdict":"race","seconds":0.021235,"states":1234,"transitions":4321,"threads":2,"assumptions":[],"witness":{"initial":[{"id":0,"label":"W flag 0","location":"flag"},{"id":1,"label":"W data 0","location":"data"}],"steps":[{"id":2,"step":1,"thread":"producer","label":"W.na data 42","location":"data","text":"data = 42","line":3,"column":15},{"id":3,"step":2,"thread":"producer","label":"W.rlx flag 1","location":"flag","text":"flag.store(1, rlx)","line":3,"column":26},{"id":4,"step":3,"thread":"consumer","label":"R.rlx flag 1","location":"flag","text":"wait(flag = 1, rlx)","line":4,"column":24},{"id":5,"step":4,"thread":"consumer","label":"R.na data 42","location":"data","text":"r = data","line":4,"column":45}],"edges":[{"from":2,"to":3,"relation":"po"},{"from":4,"to":5,"relation":"po"},{"from":0,"to":3,"relation":"mo"},{"from":1,"to":2,"relation":"mo"},{"from":3,"to":4,"relation":"rf"},{"from":2,"to":5,"relation":"rf"}],"problem":{"kind":"race","first":2,"second":5,"message":"step 1, `data = 42` in producer (line 3) races with step 4, `r = data` in consumer (line 4): both access data, not both read it, and no happens-before orders them"}}}"#
        ]],
    );
}

#[test]
fn without_witness() {
    check(
        &samples::robust(),
        expect![[
            r#"{"schema":1,"file":"dekker.tpl","model":"ra","verdict":"robust","seconds":0.021235,"states":1234,"transitions":4321,"threads":2,"assumptions":[]}"#
        ]],
    );
    check(
        &samples::gave_up(),
        expect![[
            r#"{"schema":1,"file":"big.tpl","model":"tso","verdict":"gave-up","limit":"limit of 10,000,000 states reached at depth 57","seconds":61.5,"states":10000000,"transitions":4321,"threads":3,"assumptions":[]}"#
        ]],
    );
}

#[test]
fn a_fence_is_one_step() {
    let value = value(&samples::fenced());
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
    for answer in samples.chain(samples::odd()) {
        let line = answer.to_json();
        assert!(!line.contains('\n'));
        let parsed: Value = serde_json::from_str(&line).expect("valid JSON");
        assert_eq!(parsed, value(&answer));
    }
}

/// The JSON Schema is the one in `docs/`, and every field of it is explained in `docs/json.md`.
#[test]
fn schema_is_documented() {
    fn fields(schema: &Value, out: &mut BTreeSet<String>) {
        match schema {
            Value::Object(map) => map.iter().for_each(|(key, value)| match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    out.extend(properties.keys().cloned());
                    properties.values().for_each(|property| fields(property, out));
                }
                _ => fields(value, out),
            }),
            Value::Array(values) => values.iter().for_each(|value| fields(value, out)),
            _ => {}
        }
    }
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Answer>().to_value();
    let text = serde_json::to_string_pretty(&schema).expect("a text");
    expect_file!["../../../../../docs/answer.schema.json"].assert_eq(&format!("{text}\n"));
    let mut in_schema = BTreeSet::new();
    fields(&schema, &mut in_schema);
    let page = include_str!("../../../../../docs/json.md");
    let words: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let missing: Vec<&String> = in_schema.iter().filter(|field| !words.contains(field.as_str())).collect();
    assert!(missing.is_empty(), "not in docs/json.md: {missing:?}");
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
    let rows = cells.flat_map(|(cell, _)| cell.split("`, `").map(|field| field.trim_end_matches('`')));
    let unknown: Vec<&str> = rows.filter(|field| !in_schema.contains(*field)).collect();
    assert!(unknown.is_empty(), "only in docs/json.md: {unknown:?}");
}

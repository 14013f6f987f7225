//! Finite-state programs: what is found in schedules is what `seqcst check` finds in states.

use crate::{Folder, number, root};
use seqcst_testing::corpus;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Verdicts of `seqcst check --deadlock`.
fn checked(folder: &Folder, model: &str, files: &[String]) -> BTreeMap<String, String> {
    let mut command = folder.seqcst_command();
    command.args(["check", "--deadlock", "--format", "json", "--model", model]).args(files);
    let output = command.output().expect("seqcst runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let answers = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    answers.map(|answer| (word(&answer["file"]), word(&answer["verdict"]))).collect()
}

#[test]
fn litmus_tests_as_checked() {
    let folder = Folder::new("litmus");
    let programs = corpus::programs("litmus", &["tpl", "litmus"]).unwrap_or_else(|why| panic!("{why}"));
    let files: Vec<String> = programs.iter().map(|program| program.path.display().to_string()).collect();
    for model in ["rc11", "rc20", "tso"] {
        let expected = checked(&folder, model, &files);
        for file in &files {
            let answer = folder.answer(&["--model", model, file]);
            let verdict = answer["verdict"].as_str().expect("a verdict");
            let holds = verdict == "robust";
            assert_eq!(holds, expected[file] == "robust", "{model} {file}: {verdict}, {}", expected[file]);
            if !holds {
                let again = folder.again(&answer);
                assert_eq!(again["verdict"], verdict, "{model} {file}: {}", answer["replay"]);
                assert!(answer["witness"].is_object(), "{model} {file}: {answer}");
            }
        }
    }
}

/// Programs that end: all strategies come to the same answer.
#[test]
fn strategies_agree() {
    let folder = Folder::new("strategies");
    for (name, holds) in
        [("sb", false), ("sb+fences", true), ("iriw+fences", true), ("mp+rel+acq", true), ("ex-3-1", false)]
    {
        let file = root().join(format!("corpus/litmus/{name}.tpl")).display().to_string();
        for strategy in [
            &["--strategy", "dpor"][..],
            &["--strategy", "dpor", "--bound", "3"],
            &["--strategy", "bounded", "--bound", "9"],
            &["--strategy", "pct", "--executions", "2000"],
            &["--strategy", "random", "--executions", "2000"],
        ] {
            let answer = folder.answer(&[strategy, &[&file]].concat());
            let clean = ["robust", "nothing-found"].contains(&answer["verdict"].as_str().unwrap_or_default());
            assert_eq!(clean, holds, "{name} {strategy:?}: {answer}");
            assert_eq!(answer["strategy"], strategy[1]);
            let random = ["pct", "random"].contains(&strategy[1]);
            assert!(!(random && answer["exhausted"] == true), "{answer}");
        }
    }
}

#[test]
fn schedules_and_traces_are_counted() {
    let folder = Folder::new("counts");
    let file = root().join("corpus/litmus/sb+fences.tpl").display().to_string();
    let dpor = folder.answer(&[&file]);
    assert_eq!((number(&dpor, "executions"), number(&dpor, "distinct")), (3, 3), "{dpor}");
    let bounded = folder.answer(&["--strategy", "bounded", "--bound", "20", &file]);
    // Two threads of two steps each, as fences are none: 4 over 2.
    assert_eq!(number(&bounded, "executions"), 6, "{bounded}");
    assert_eq!((number(&bounded, "distinct"), &bounded["verdict"]), (3, &"robust".into()), "{bounded}");
    let bounds = bounded["bounds"].as_array().expect("executions by preemptions");
    let sum: u64 = bounds.iter().map(|bound| number(bound, "executions")).sum();
    assert!(sum == 6 && number(&bounds[0], "executions") == 2, "{bounded}");
}

#[test]
fn drawings() {
    let folder = Folder::new("drawings");
    let (sb, fenced) = ("corpus/litmus/sb.tpl", "corpus/litmus/sb+fences.tpl");
    let [sb, fenced] = [sb, fenced].map(|file| root().join(file).display().to_string());
    assert_eq!(folder.explore(&["--svg", "w.svg", "--dot", "w.dot", &sb]).code(), 1);
    let text = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap_or_default();
    assert!(text("w.svg").contains("<svg") && text("w.dot").contains("digraph"));
    assert_eq!(folder.explore(&["--svg", "no.svg", &fenced]).code(), 0);
    assert!(!folder.path("no.svg").exists());
}

#[test]
fn text() {
    let folder = Folder::new("model-text");
    let sb = root().join("corpus/litmus/sb.tpl").display().to_string();
    let run = folder.explore(&["--minimize", &sb]);
    let out = run.stdout();
    assert!(out.starts_with("not robust: ") && !out.contains('\x1b'), "{out}");
    for part in [
        "it may still read 0 from the initial write",
        "minimized to 0 preemptions",
        "dpor: 1 execution, 1 distinct, 1 with a possibly stale access",
        "replay: seqcst explore --replay 0x2,1x2 ",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert_eq!(run.stderr(), "");
}

/// Every field of an answer has a row in `docs/json.md`, and every row of the section on `explore` is some answer's field.
#[test]
fn fields_are_documented() {
    let folder = Folder::new("fields");
    let page = std::fs::read_to_string(root().join("docs/json.md")).expect("the page");
    let rows = |text: &str| -> BTreeSet<String> {
        let fields = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        fields.map(|(field, _)| field.to_owned()).collect()
    };
    let own = page.split("\n## ").find(|section| section.starts_with("`seqcst explore`")).expect("a section");
    let file = |name: &str| root().join("corpus/litmus").join(name).display().to_string();
    let endless =
        "global x, y;\nfn a { while (1) { x.store(1); x.store(0); } }\nfn b { y.store(1); y.store(0); }\n";
    let folder = folder.with("endless.tpl", endless);
    let endless = folder.path("endless.tpl").display().to_string();
    let (sb, robust) = (file("sb.tpl"), file("sb+sc-fences.litmus"));
    let mut used = BTreeSet::new();
    for args in [
        vec!["--keep-going", &sb],
        vec!["--strategy", "pct", "--executions", "1000", &robust],
        vec!["--strategy", "bounded", "--bound", "1", &robust],
        vec!["--strategy", "random", "--executions", "100000", &robust],
        vec![robust.as_str()],
        vec!["--steps", "80", &endless],
    ] {
        let answer = folder.answer(&args);
        used.extend(answer.as_object().expect("an object").keys().cloned());
    }
    let undocumented: Vec<_> = used.difference(&rows(&page)).cloned().collect();
    let unused: Vec<_> = rows(own).difference(&used).cloned().collect();
    assert!(undocumented.is_empty() && unused.is_empty(), "{undocumented:?} {unused:?}");
}

//! Answers in SARIF 2.1.0, which editors and code hosts show beside the source.

use crate::answer::{Accessed, Call, Frame, Link, Pair, Report};
use crate::text::run;
use crate::view::View;
use crate::{Answer, Details, Place, Problem, Verdict, Witness, words};
use serde_json::{Value, json};

/// Kinds of results, with a name and an explanation, in the order of the rules.
const RULES: [(&str, &str, &str); 9] = [
    (
        "stale-access",
        "Access that can be stale",
        "Under sequential consistency this access sees the latest write; the memory model also lets it see an older one.",
    ),
    (
        "data-race",
        "Data race",
        "Two accesses to the same memory, at least one of them a write and one of them not atomic, with no order between \
         them.",
    ),
    (
        "benign-wait",
        "Wait that can take longer",
        "The access can be stale, but all it can do with an old value is to wait for the new one.",
    ),
    ("failing-execution", "Execution that fails", "Under this schedule the program fails, even under SC."),
    (
        "unproved",
        "Access without a proof",
        "No proof was found that this access always sees the latest write.",
    ),
    (
        "missing-fence",
        "Missing SC fence",
        "Two calls to different robust libraries, with no SC fence in between: their composition may be non-robust.",
    ),
    (
        "reorderable-pair",
        "Accesses that may be reordered",
        "The target may do these two accesses in the other order, and other threads can observe it.",
    ),
    ("gave-up", "Nothing was decided", "A limit was reached before there was an answer."),
    (
        "misuse",
        "Misuse of memory or of an object",
        "Memory or an object of synchronisation is used that may not be used, or not in this way: after it was freed, \
         for instance.",
    ),
];

/// One log with one run of the tool, for all answers of a command.
pub fn to_sarif(answers: &[Answer]) -> String {
    let rule = |&(id, name, text): &(&str, &str, &str)| {
        let level = match id {
            "benign-wait" => "note",
            "unproved" | "gave-up" => "warning",
            _ => "error",
        };
        json!({
            "id": id,
            "shortDescription": {"text": name},
            "fullDescription": {"text": text},
            "defaultConfiguration": {"level": level},
        })
    };
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "seqcst",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "invocations": answers.iter().map(invocation).collect::<Vec<_>>(),
            "results": answers.iter().flat_map(results).collect::<Vec<_>>(),
        }],
    });
    format!("{log}\n")
}

fn invocation(answer: &Answer) -> Value {
    let none = Vec::new();
    let (words, notes) = match &answer.details {
        Details::Run(runs) => (&runs.command, &runs.notes),
        Details::Explore(explored) => (&explored.command, &none),
        _ => (&none, &none),
    };
    let ended = match &answer.details {
        Details::Run(runs) => runs.failures.first(),
        _ => None,
    };
    let notification = |text: &String| json!({"level": "note", "message": {"text": text}});
    let mut invocation = json!({
        "executionSuccessful": ended.is_none() && answer.verdict != Verdict::GaveUp,
        "toolExecutionNotifications": notes.iter().map(notification).collect::<Vec<_>>(),
    });
    if !words.is_empty() {
        invocation["commandLine"] = json!(words.join(" "));
        invocation["arguments"] = json!(words.get(1..).unwrap_or_default());
    }
    if let Some(ended) = ended {
        invocation["exitCodeDescription"] = json!(run::ending(ended));
    }
    invocation
}

fn results(answer: &Answer) -> Vec<Value> {
    let mut results: Vec<Value> = match &answer.details {
        Details::Run(runs) => runs.reports.iter().map(report).collect(),
        Details::Explore(explored) => match &explored.found {
            Some(found) if !found.reports.is_empty() => found.reports.iter().map(report).collect(),
            Some(found) if answer.witness.is_none() => {
                let happened = found.message.join(" ");
                let text = format!("{}: {happened}", answer.verdict.headline());
                vec![result("failing-execution", "error", &text, location(&answer.file, 0, 0))]
            }
            _ => Vec::new(),
        },
        Details::Compose(composed) => {
            composed.missing.iter().map(|gap| missing_fence(&gap.earlier, &gap.later)).collect()
        }
        Details::Port(ported) => {
            ported.pairs.iter().map(|pair| reordered(pair, &ported.from, &ported.to)).collect()
        }
        Details::Check(_) | Details::Library(_) => Vec::new(),
    };
    results.extend(answer.witness.as_ref().map(witness));
    if answer.verdict == Verdict::GaveUp {
        let text = format!("Gave up: {}", answer.limit.as_deref().unwrap_or_default());
        results.push(result("gave-up", "warning", &text, location(&answer.file, 0, 0)));
    }
    results
}

fn result(rule: &str, level: &str, text: &str, at: Value) -> Value {
    let index = RULES.iter().position(|(id, ..)| *id == rule).unwrap_or_default();
    json!({"ruleId": rule, "ruleIndex": index, "level": level, "message": {"text": text}, "locations": [at]})
}

/// A report of the sanitizer.
fn report(report: &Report) -> Value {
    let rule = match report.kind.as_str() {
        "race" => "data-race",
        "misuse" => "misuse",
        "benign-wait" => "benign-wait",
        _ => "stale-access",
    };
    let repair = report.repair.as_ref().filter(|repair| !repair.is_empty());
    let repair = repair.map(|repair| format!(" Repair to try: {repair}")).unwrap_or_default();
    let text = format!("{}.{repair}", run::sentence(report));
    let level = if report.error { "error" } else { "note" };
    let mut out = result(rule, level, &text, frame_location(report.access.frame()));
    let mut stacks = vec![stack("this access", &report.access)];
    if let Some(other) = report.other() {
        let words = match rule {
            "data-race" => "the earlier access",
            "misuse" => "the end of its life",
            _ => "the write that can be missed",
        };
        out["relatedLocations"] = json!([said(frame_location(other.frame()), words)]);
        stacks.push(stack("the other access", other));
    }
    out["stacks"] = json!(stacks);
    let part = |access: Option<&Accessed>| {
        let frame = access.and_then(Accessed::frame).cloned().unwrap_or_default();
        let file = frame.file.rsplit('/').next().unwrap_or_default().to_owned();
        format!("{file}:{}:{}", frame.function, access.map_or("", |access| &access.what))
    };
    // The same for the same accesses in the next version, if only their lines have moved.
    let fingerprint = format!("{}|{}|{}", report.kind, part(Some(&report.access)), part(report.other()));
    out["partialFingerprints"] = json!({"accesses/v1": fingerprint});
    out["properties"] = json!({"runs": report.runs.unwrap_or(1), "occurrences": report.count});
    if let Some(chain) = report.chain.as_ref().filter(|chain| !chain.is_empty()) {
        let step = |link: &Link| {
            let text = format!("thread {}: {} {}, {}", link.thread, link.what, link.mode, link.why);
            said(frame_location(link.frame.as_ref()), &text)
        };
        let last = said(frame_location(report.access.frame()), "the access that can be stale");
        out["codeFlows"] = flow(chain.iter().map(step).chain([last]));
    }
    out
}

/// The execution of a finite-state program or of a library's methods.
fn witness(witness: &Witness) -> Value {
    let view = View::new(witness);
    let at = |event: usize| match witness.events.get(event) {
        Some(event) => location(&witness.file, event.line, event.column),
        None => location(&witness.file, 0, 0),
    };
    let (rule, level, main, related) = match &witness.problem {
        Problem::Stale { access, latest, .. } => {
            ("stale-access", "error", at(*access), Some((at(*latest), "the write that can be missed")))
        }
        Problem::Race { first, second } => {
            let level = if witness.is_partial { "warning" } else { "error" };
            ("data-race", level, at(*second), Some((at(*first), "the earlier access")))
        }
        Problem::Unproved { newest, access, .. } => {
            ("unproved", "warning", at(*access), Some((at(*newest), "the newest write")))
        }
        Problem::Assertion { line, column, .. } | Problem::Deadlock { line, column, .. } => {
            ("failing-execution", "error", location(&witness.file, *line, *column), None)
        }
    };
    let mut out = result(rule, level, &words::account(&view).sentence, main);
    if let Some((place, words)) = related {
        out["relatedLocations"] = json!([said(place, words)]);
    }
    let rows = view.rows.iter().enumerate().filter(|(_, row)| row.thread.is_some());
    out["codeFlows"] = flow(rows.map(|(i, row)| {
        let thread = row.thread.map(|thread| view.thread_name(thread)).unwrap_or_default();
        said(at(row.event), &format!("step {}, {thread}: {}", row.step, view.label(i)))
    }));
    out
}

fn missing_fence(earlier: &Call, later: &Call) -> Value {
    let text = format!(
        "No SC fence between `{}` ({}) and `{}` ({}).",
        earlier.call, earlier.library, later.call, later.library
    );
    let mut out = result("missing-fence", "error", &text, placed(Some(&later.place)));
    out["relatedLocations"] = json!([said(placed(Some(&earlier.place)), "the earlier call")]);
    out
}

fn reordered(pair: &Pair, from: &str, to: &str) -> Value {
    let (first, second) = (&pair.first, &pair.second);
    let text = format!(
        "{from} → {to}: the {} of {} may be done after the {} of {}.",
        first.access, first.location, second.access, second.location
    );
    let mut out = result("reorderable-pair", "error", &text, placed(first.place.as_ref()));
    out["relatedLocations"] =
        json!([said(placed(second.place.as_ref()), "the access that may be done first")]);
    if !pair.cycle.is_empty() {
        out["codeFlows"] = flow(pair.cycle.iter().map(|access| {
            said(placed(access.place.as_ref()), &format!("{} of {}", access.access, access.location))
        }));
    }
    out
}

fn flow(steps: impl Iterator<Item = Value>) -> Value {
    let steps: Vec<Value> = steps.map(|location| json!({"location": location})).collect();
    json!([{"threadFlows": [{"locations": steps}]}])
}

fn stack(name: &str, access: &Accessed) -> Value {
    let frame = |frame: &Frame| json!({"location": frame_location(Some(frame))});
    json!({"message": {"text": name}, "frames": access.stack.iter().map(frame).collect::<Vec<_>>()})
}

/// A location with a message.
fn said(mut location: Value, text: &str) -> Value {
    location["message"] = json!({"text": text});
    location
}

/// Where a frame is; without a file there is only the function to name.
fn frame_location(frame: Option<&Frame>) -> Value {
    let Some(frame) = frame else { return json!({}) };
    let mut out = placed(frame.place().as_ref());
    if !frame.function.is_empty() {
        out["logicalLocations"] = json!([{"fullyQualifiedName": frame.function, "kind": "function"}]);
    }
    out
}

fn placed(place: Option<&Place>) -> Value {
    match place {
        Some(place) => location(&place.file, place.line as usize, place.column as usize),
        None => json!({}),
    }
}

fn location(file: &str, line: usize, column: usize) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(file)}});
    if line > 0 {
        physical["region"] = json!({"startLine": line});
        if column > 0 {
            physical["region"]["startColumn"] = json!(column);
        }
    }
    json!({"physicalLocation": physical})
}

/// Relative to the current directory if the file is below it.
fn uri(file: &str) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| std::path::Path::new(file).strip_prefix(here).ok());
    let encode = |path: &str| -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/+".contains(&byte);
        let letter =
            |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
        path.bytes().map(letter).collect()
    };
    match below {
        Some(path) => encode(&path.to_string_lossy()),
        None if file.starts_with('/') => format!("file://{}", encode(file)),
        None => encode(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_violation_is_a_result_of_a_known_rule() {
        for (name, answer) in crate::samples::all() {
            let log: Value = serde_json::from_str(&to_sarif(std::slice::from_ref(&answer))).expect("JSON");
            let results = log["runs"][0]["results"].as_array().expect("results");
            assert_eq!(results.len(), usize::from(answer.verdict != Verdict::Robust), "{name}");
            for result in results {
                let index = result["ruleIndex"].as_u64().expect("an index");
                assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][index as usize]["id"], result["ruleId"]);
                let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
                assert!(uri.is_string() && result["message"]["text"].is_string(), "{name}: {result}");
            }
        }
    }

    #[test]
    fn misuses() {
        let at = |what: &str, line: u32| {
            let frame = Frame { function: "f".into(), file: "a.c".into(), line, ..Frame::default() };
            Accessed { what: what.into(), mode: "plain".into(), stack: vec![frame], ..Accessed::default() }
        };
        let (kind, problem) = ("misuse".into(), Some("use after free".into()));
        let (access, earlier) = (at("load", 7), Some(at("free", 3)));
        let result = report(&Report { kind, problem, error: true, access, earlier, ..Report::default() });
        assert_eq!(
            result["message"]["text"],
            "use after free: load (plain) a.c:7 in f, after free a.c:3 in f."
        );
        assert_eq!((&result["ruleId"], &result["level"]), (&json!("misuse"), &json!("error")));
        assert_eq!(result["relatedLocations"][0]["message"]["text"], "the end of its life");
    }

    #[test]
    fn files_as_uris() {
        assert_eq!(uri("/a b/c++.h"), "file:///a%20b/c++.h");
        assert_eq!(uri("src/a.c"), "src/a.c");
        let here = std::env::current_dir().expect("a directory");
        assert_eq!(uri(&here.join("src/a.c").to_string_lossy()), "src/a.c");
    }
}

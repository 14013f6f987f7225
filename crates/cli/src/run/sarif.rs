//! What was found, in SARIF 2.1.0, which editors and code hosts show beside the source.

use super::answer;
use super::merge::{self, Found, Merged, Place};
use serde_json::{Value, json};
use std::ffi::OsString;

/// Identifiers of kinds of reports, in the order of the rules, with a name and an explanation.
const RULES: [(&str, &str, &str); 3] = [
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
];

/// One log with one run of the tool.
pub fn render(command: &[OsString], found: &Found) -> String {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|(id, name, text)| {
            let level = if *id == "benign-wait" { "note" } else { "error" };
            json!({
                "id": id,
                "shortDescription": {"text": name},
                "fullDescription": {"text": text},
                "defaultConfiguration": {"level": level},
            })
        })
        .collect();
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let ending = found.failures().next();
    let notification = |text: &String| json!({"level": "note", "message": {"text": text}});
    let mut invocation = json!({
        "executionSuccessful": ending.is_none(),
        "commandLine": words.join(" "),
        "arguments": words.get(1..).unwrap_or_default(),
        "toolExecutionNotifications": found.notes.iter().map(notification).collect::<Vec<_>>(),
    });
    if let Some((_, ending)) = ending {
        invocation["exitCodeDescription"] = json!(answer::how(ending));
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "seqcst", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "utf16CodeUnits",
            "invocations": [invocation],
            "results": found.reports.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{log}\n")
}

fn result(merged: &Merged) -> Value {
    let report = &merged.report;
    let rule = match report["kind"].as_str().unwrap_or_default() {
        "race" => 1,
        "benign-wait" => 2,
        _ => 0,
    };
    let other = merge::other(report);
    let mut result = json!({
        "ruleId": RULES[rule].0,
        "ruleIndex": rule,
        "level": if merge::is_error(report) { "error" } else { "note" },
        "message": {"text": message(merged)},
        "locations": [location(&merge::place(&report["access"]), None)],
        "relatedLocations": [location(&merge::place(other), Some(if rule == 1 { "the earlier access" } else { "the write that can be missed" }))],
        "stacks": [stack("this access", &report["access"]), stack("the other access", other)],
        "partialFingerprints": {"accesses/v1": fingerprint(report)},
        "properties": {"runs": merged.runs, "occurrences": merged.count},
    });
    if let Some(flow) = flow(report) {
        result["codeFlows"] = json!([flow]);
    }
    result
}

fn message(merged: &Merged) -> String {
    let repair = merged.report["repair"].as_str().filter(|repair| !repair.is_empty());
    let repair = repair.map(|repair| format!(" Repair to try: {repair}")).unwrap_or_default();
    format!("{}.{repair}", answer::line(merged))
}

/// Where something is; without a file there is only the function to name.
fn location(place: &Place, message: Option<&str>) -> Value {
    let mut location = json!({});
    if !place.function.is_empty() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": place.function, "kind": "function"}]);
    }
    if !place.file.is_empty() {
        let mut physical = json!({"artifactLocation": {"uri": uri(&place.file)}});
        if place.line > 0 {
            physical["region"] = json!({"startLine": place.line});
            if place.column > 0 {
                physical["region"]["startColumn"] = json!(place.column);
            }
        }
        location["physicalLocation"] = physical;
    }
    if let Some(message) = message {
        location["message"] = json!({"text": message});
    }
    location
}

fn stack(name: &str, access: &Value) -> Value {
    let frames = access["stack"].as_array().into_iter().flatten();
    let frames: Vec<Value> =
        frames.map(|frame| json!({"location": location(&merge::frame(frame), None)})).collect();
    json!({"message": {"text": name}, "frames": frames})
}

/// The accesses that force the order under SC, as steps.
fn flow(report: &Value) -> Option<Value> {
    let steps = report["chain"].as_array().filter(|steps| !steps.is_empty())?;
    let step = |step: &Value| {
        let word = |name: &str| step[name].as_str().unwrap_or_default();
        let text = format!("thread {}: {} {}, {}", step["thread"], word("what"), word("mode"), word("why"));
        json!({"location": location(&merge::frame(&step["frame"]), Some(&text))})
    };
    let last =
        json!({"location": location(&merge::place(&report["access"]), Some("the access that can be stale"))});
    let steps: Vec<Value> = steps.iter().map(step).chain([last]).collect();
    Some(json!({"threadFlows": [{"locations": steps}]}))
}

/// The same for the same accesses in the next version, if only their lines have moved.
fn fingerprint(report: &Value) -> String {
    let part = |access: &Value| {
        let place = merge::place(access);
        let file = place.file.rsplit('/').next().unwrap_or_default().to_owned();
        format!("{file}:{}:{}", place.function, access["what"].as_str().unwrap_or_default())
    };
    let kind = report["kind"].as_str().unwrap_or_default();
    format!("{kind}|{}|{}", part(&report["access"]), part(merge::other(report)))
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
    fn files_as_uris() {
        assert_eq!(uri("/a b/c++.h"), "file:///a%20b/c++.h");
        assert_eq!(uri("src/a.c"), "src/a.c");
        let here = std::env::current_dir().expect("a directory");
        assert_eq!(uri(&here.join("src/a.c").to_string_lossy()), "src/a.c");
    }
}

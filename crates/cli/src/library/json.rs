//! An answer as one line of JSON; the fields stand in `docs/json.md`.

use super::answer::Answer;
use super::tried::Tried;
use seqcst_library::code::Site;
use seqcst_library::prove::Failure;
use seqcst_report::to_json_value;
use serde_json::{Value, json};

/// One object.
pub fn show(answer: &Answer) -> Value {
    let classes: Vec<Value> = answer
        .outcome
        .classes
        .iter()
        .map(|class| {
            let mut out = json!({
                "class": answer.class(class.class),
                "conditions": class.conditions.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "constraints": class.used.iter().map(|constraint| constraint.name()).collect::<Vec<_>>(),
                "questions": class.questions,
                "proved": class.failure.is_none(),
            });
            if let Some(Failure::Unknown { why }) = &class.failure {
                out["why"] = json!(why);
            }
            if let Some(Failure::Skipped) = &class.failure {
                out["why"] = json!("not looked at: the library is refuted already");
            }
            out
        })
        .collect();
    let loops: Vec<Value> = answer
        .loaded
        .transformed
        .changes
        .iter()
        .map(|change| json!({"method": change.method, "place": place(answer, change.site), "change": change.what}))
        .collect();
    let mut out = json!({
        "file": answer.loaded.name,
        "model": "rc20",
        "verdict": answer.verdict(),
        "notion": answer.loaded.notion(),
        "seconds": round(answer.proof_seconds),
        "questions": answer.outcome.questions,
        "methods": answer.loaded.library.methods.iter().map(|method| method.name.as_str()).collect::<Vec<_>>(),
        "classes": classes,
        "loops": loops,
        "assumptions": answer.outcome.assumptions,
    });
    if let Some((description, site)) = &answer.loaded.mutant {
        out["mutant"] = json!({"change": description, "place": place(answer, *site)});
    }
    if let (Some(why), "gave-up") = (answer.why_unknown(), answer.verdict()) {
        out["limit"] = json!(why);
    }
    if let Some(finding) = &answer.finding {
        out["witness"] = to_json_value(finding)["witness"].take();
    }
    if let Some(tried) = &answer.tried {
        out["client"] = client(tried);
    }
    out
}

/// Whether a client confirms it.
pub fn client(tried: &Tried) -> Value {
    match tried {
        Tried::Confirmed { threads, what, finding } => {
            json!({"confirmed": true, "threads": threads, "shows": what, "witness": to_json_value(finding)["witness"].take()})
        }
        Tried::NotConfirmed { words } => json!({"confirmed": false, "why": words}),
    }
}

fn place(answer: &Answer, site: Site) -> Value {
    let file = answer.loaded.library.files.get(site.file as usize);
    json!({"file": file, "line": site.line, "column": site.column})
}

/// Microseconds are enough.
pub fn round(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

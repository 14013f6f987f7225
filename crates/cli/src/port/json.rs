//! An answer as one line of JSON.

use super::answer::{Answer, Described, Loaded};
use super::fix::{SourcePatch, Written};
use super::text::change;
use seqcst_port::program::Place;
use seqcst_port::robust::MOST_CYCLES;
use serde_json::{Value, json};

/// One object. Pairs without a cycle are not listed.
pub fn show(loaded: &Loaded, answer: &Answer, written: &Written) -> Value {
    let faults = &answer.placement.before.faults;
    let functions: Vec<&str> = loaded.ported.program.functions.iter().map(|f| f.name.as_str()).collect();
    let pairs: Vec<Value> = faults
        .iter()
        .take(MOST_CYCLES)
        .map(|fault| {
            let cycle: Vec<Value> = fault.cycle.iter().map(|&site| access(&loaded.access(site))).collect();
            json!({
                "first": access(&loaded.access(fault.first)),
                "second": access(&loaded.access(fault.second)),
                "cycle": cycle,
            })
        })
        .collect();
    let changes: Vec<Value> = answer
        .edits
        .iter()
        .map(|&edit| json!({"change": change(loaded, edit, answer), "place": place(loaded.place(edit).as_ref())}))
        .collect();
    let notes: Vec<Value> = loaded
        .notes()
        .into_iter()
        .map(|(words, times, first)| json!({"note": words, "times": times, "place": place(first.as_ref())}))
        .collect();
    let assumptions: Vec<Value> = answer
        .assumptions
        .iter()
        .map(|assumption| json!({"name": assumption.name, "words": assumption.words}))
        .collect();
    let fences = match answer.is_late() {
        true => Value::Null,
        false => {
            json!({"naive": answer.naive, "existing": answer.existing, "inserted": answer.edits.len()})
        }
    };
    let mut out = json!({
        "file": loaded.name,
        "from": answer.from.name(),
        "to": answer.to.name(),
        "verdict": answer.verdict(),
        "seconds": answer.took.as_secs_f64(),
        "threads": functions.len(),
        "functions": functions,
        "pairs": pairs,
        "pairs_total": faults.len(),
        "fences": fences,
        "changes": changes,
        "exact": answer.placement.exact,
        "repaired": answer.placement.after.is_robust() && answer.placement.in_time,
        "assumptions": assumptions,
        "notes": notes,
    });
    if let Some(why) = &answer.gave_up {
        out["why"] = json!(why);
    }
    if !written.files.is_empty() {
        out["written"] = json!(written.names());
    }
    if let Some(patch) = &written.patch {
        out["source_patch"] = match patch {
            SourcePatch::Written { pairs_left } => json!({"written": true, "pairs_left": pairs_left}),
            SourcePatch::None { why } => json!({"written": false, "why": why}),
        };
    }
    out
}

fn access(described: &Described) -> Value {
    json!({
        "access": described.what,
        "location": described.location,
        "function": described.function,
        "place": place(described.place.as_ref()),
    })
}

fn place(place: Option<&Place>) -> Value {
    match place {
        Some(Place { file, line, column }) => json!({"file": file, "line": line, "column": column}),
        None => Value::Null,
    }
}

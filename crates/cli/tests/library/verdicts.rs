//! What is said about libraries.

use super::{answers, library, scratch, text};

#[test]
fn a_proof() {
    let out = library(&["--explain", "register.c"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(
        said.starts_with("robust: register.c for every client of its global state (execution-graph) — "),
        "{said}"
    );
    assert!(said.contains("  class ") && said.contains("derived constraints that the proof needs"), "{said}");
    assert!(said.contains("fresh-records"), "{said}");
    let (code, said) = answers(&["register.c", "register-relaxed.c"]);
    assert_eq!(code, Some(0));
    assert_eq!(said.len(), 2);
    assert_eq!((&said[0]["file"], &said[0]["verdict"]), (&"register.c".into(), &"robust".into()));
    assert_eq!(said[0]["notion"], "execution-graph");
    let classes = said[0]["classes"].as_array().expect("classes");
    let questions: u64 = classes.iter().map(|class| class["questions"].as_u64().expect("a number")).sum();
    assert!(questions > 0 && questions <= said[0]["questions"].as_u64().expect("a number"));
    assert!(classes.iter().all(|class| class["proved"] == true));
    assert!(said[0].get("witness").is_none() && said[0].get("client").is_none());
}

#[test]
fn a_refutation_is_confirmed_and_drawn() {
    let folder = scratch("drawings");
    let (svg, dot) = (folder.join("w.svg").display().to_string(), folder.join("w.dot").display().to_string());
    let out = library(&["--svg", &svg, "--dot", &dot, "two-registers.c"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.starts_with("may be non-robust: two-registers.c — no proof for "), "{said}");
    assert!(said.contains("the newest write") && said.contains("may miss (2)"), "{said}");
    assert!(
        said.contains("  confirmed by this client (it does what SC does not allow):\n    thread 1: "),
        "{said}"
    );
    let drawn = std::fs::read_to_string(&svg).expect("a drawing");
    assert!(drawn.starts_with("<svg") && drawn.contains("may be non-robust"), "{drawn}");
    let drawn = std::fs::read_to_string(&dot).expect("a graph");
    assert!(drawn.starts_with("digraph") && drawn.contains("no hb"), "{drawn}");
}

#[test]
fn a_refutation_as_json() {
    let (code, said) = answers(&["two-registers.c"]);
    assert_eq!(code, Some(1));
    assert_eq!(said[0]["verdict"], "may-be-non-robust");
    assert_eq!(said[0]["witness"]["problem"]["kind"], "unproved");
    assert!(said[0]["witness"]["steps"].as_array().expect("steps").len() > 1);
    let client = &said[0]["client"];
    assert_eq!(client["confirmed"], true);
    assert_eq!(client["threads"].as_array().expect("threads").len(), 2);
    assert_eq!(client["witness"]["problem"]["kind"], "stale");
    let (code, said) = answers(&["--no-try", "two-registers.c"]);
    assert_eq!(code, Some(1));
    assert!(said[0].get("client").is_none());
}

/// One thread cannot show anything.
#[test]
fn not_confirmed_within_bounds() {
    let out = library(&["--bounds", "1,1", "--disable", "fresh-records", "register.c"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("  not confirmed: ") && said.contains("this may be a false alarm"), "{said}");
}

#[test]
fn loops_make_a_weaker_notion() {
    let (code, said) = answers(&["treiber.c"]);
    assert_eq!(
        (code, &said[0]["verdict"], &said[0]["notion"]),
        (Some(0), &"robust".into(), &"induced-subgraph".into())
    );
    assert!(!said[0]["loops"].as_array().expect("loops").is_empty());
}

#[test]
fn the_worst_of_several() {
    let (code, said) = answers(&["--no-try", "register.c", "two-registers.c", "register-relaxed.c"]);
    assert_eq!(code, Some(1));
    let verdicts: Vec<&str> = said.iter().map(|answer| answer["verdict"].as_str().expect("a word")).collect();
    assert_eq!(verdicts, ["robust", "may-be-non-robust", "robust"]);
}

//! The proof on the libraries of the corpus: verdicts, what each derived constraint is needed for, and that no question is
//! contradictory in itself.

mod integers;

use seqcst_c11 as c;
use seqcst_c11::code::{ClassId, Library};
use seqcst_proof::prove::conditions::{Case, Depth, accesses};
use seqcst_proof::prove::execution::ProofContext;
use seqcst_proof::prove::facts::Facts;
use seqcst_proof::prove::{Constraint, Failure, Options, Outcome, prove, sections, segments};
use seqcst_proof::rho;
use seqcst_proof::solver::{self, Answer, Pool};
use std::path::PathBuf;
use std::time::Duration;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/library")
}

fn pool(want_cores: bool) -> Pool {
    Pool::new(solver::Options { want_cores, ..solver::Options::default() })
        .expect("Z3 is installed by cargo xtask setup")
}

/// A library of the corpus, after ρ.
fn library(name: &str) -> Library {
    let path = folder().join(name);
    let text = std::fs::read(&path).expect("the corpus can be read");
    let library = c::read(&path.to_string_lossy(), &text, &c::Options::default()).expect(name);
    rho::apply(&library).library
}

fn proved(name: &str, pool: &mut Pool, disabled: &[Constraint]) -> Outcome {
    let options = Options { disabled: disabled.to_vec(), time_limit: Some(Duration::from_secs(300)) };
    prove(&library(name), pool, &options).expect("the solver understands all questions")
}

#[test]
fn libraries_that_are_robust_are_proved() {
    let mut pool = pool(false);
    for entry in std::fs::read_dir(folder()).expect("there is a corpus") {
        let path = entry.expect("the corpus can be read").path();
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if text.contains("//@ verdict: robust") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let outcome = proved(&name, &mut pool, &[]);
            assert!(outcome.is_robust(), "{name}: {:#?}", outcome.classes);
        }
    }
}

#[test]
fn libraries_that_are_not_robust_are_not_proved() {
    let mut pool = pool(false);
    for name in ["two-registers.c", "spsc-ring-release-acquire.c"] {
        assert!(!proved(name, &mut pool, &[]).is_robust(), "{name}");
    }
}

/// Is there an execution that contradicts the proof, even if not all questions were answered in time?
fn contradicts(failure: Option<&Failure>) -> bool {
    matches!(failure, Some(Failure::Witness(_) | Failure::Unknown { partial: Some(_), .. }))
}

/// Libraries that look robust at first sight; each of them has a small client that is not.
#[test]
fn traps_are_not_proved() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/prove/traps");
    let mut pool = pool(false);
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("there are traps") {
        let path = entry.expect("traps can be read").path();
        let text = std::fs::read(&path).expect("traps can be read");
        let library = c::read(&path.to_string_lossy(), &text, &c::Options::default()).expect("it is C");
        let options = Options { time_limit: Some(Duration::from_secs(5)), ..Options::default() };
        let outcome = prove(&rho::apply(&library).library, &mut pool, &options).expect("Z3 understands");
        let fails = outcome.classes.iter().any(|class| contradicts(class.failure.as_ref()));
        assert!(fails, "{} is proved", path.display());
        files += 1;
    }
    assert_eq!(files, 10);
}

#[test]
fn each_derived_constraint_is_needed() {
    let needed = [
        (Constraint::FreshRecords, "register.c"),
        (Constraint::OwnField, "register-late.c"),
        (Constraint::UpdatesOnly, "speculative.c"),
        (Constraint::Counter, "spsc-unbounded.c"),
        (Constraint::ExclusiveWrite, "mpmc.c"),
        (Constraint::Bound, "spsc-unbounded.c"),
        (Constraint::DistinctIndices, "ticket-queue.c"),
        (Constraint::OneThread, "spsc-unbounded.c"),
        (Constraint::Exclusion, "ticket-lock.c"),
        (Constraint::Point, "ticket-lock.c"),
        (Constraint::ConfirmedRead, "speculative.c"),
        (Constraint::Writers, "ticket-lock.c"),
    ];
    assert_eq!(needed.map(|(constraint, _)| constraint), Constraint::ALL);
    let mut pool = pool(false);
    for (constraint, name) in needed {
        let outcome = proved(name, &mut pool, &[constraint]);
        let fails = outcome.classes.iter().any(|class| contradicts(class.failure.as_ref()));
        assert!(fails, "{name} does not need {constraint}");
    }
}

#[test]
fn cores_name_what_a_proof_needs() {
    let outcome = proved("register.c", &mut pool(true), &[]);
    let used: Vec<Constraint> = outcome.classes.iter().flat_map(|c| c.used.clone()).collect();
    assert!(used.contains(&Constraint::FreshRecords), "{used:?}");
    let outcome = proved("register-relaxed.c", &mut pool(true), &[]);
    assert!(outcome.classes.iter().all(|c| c.used.is_empty()), "{:?}", outcome.classes);
}

/// If nothing is said about who knows what, the calls that a question speaks of do exist.
#[test]
fn questions_are_not_contradictory_in_themselves() {
    let mut pool = pool(false);
    for name in ["register.c", "treiber.c", "spsc-ring.c", "ticket-lock.c", "speculative.c", "ttas-lock.c"] {
        let library = library(name);
        let joined = sections::join(&library);
        let analysed = joined.as_ref().map_or(&library, |joined| &joined.library);
        let segments: Vec<_> =
            analysed.methods.iter().enumerate().flat_map(|(k, m)| segments::segments(k, m)).collect();
        let facts = Facts::of(analysed, &segments, joined.as_ref(), &[]);
        let context = ProofContext { library: analysed, segments: &segments, facts };
        for class in (0..analysed.classes.len()).map(|k| ClassId(k as u32)) {
            let all = accesses(&context, class);
            let writes = all.iter().filter(|p| p.of(&context).writes());
            let mut questions = Vec::new();
            for suspect in writes {
                for access in &all {
                    let case = Case::Destination { suspect: *suspect, access: *access };
                    let mut question = case.question(&context, Depth::Calls);
                    question.assertions.retain(|(label, formula)| {
                        let is_about_knowledge = formula.contains("(known ") || formula.contains("past_");
                        let is_about_value = formula.contains("updates next") || formula == "false";
                        label != "condition" && label != "confirmed-read"
                            || !is_about_knowledge && !is_about_value
                    });
                    questions.push(question);
                }
            }
            let answers = pool.ask_all(questions).expect("the solver understands all questions");
            let is_alone = context.facts.classes[class.0 as usize].writer_thread.is_some();
            let shared =
                all.iter().any(|p| context.facts.threads[segments[p.segment].method].is_none()) || !is_alone;
            let possible = answers.iter().filter(|a| matches!(a, Answer::Sat { .. })).count();
            assert!(
                possible > 0 || !shared,
                "{name}: nothing can access {} after a write",
                analysed.classes[class.0 as usize].name
            );
        }
    }
}

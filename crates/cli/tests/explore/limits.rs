//! Limits: what was not decided is said, with exit code 3.

use crate::{Folder, number, root};

#[test]
fn executions_and_time() {
    let folder = Folder::new("limits");
    let program = folder.corpus("small/bakery-fences.c");
    let answer = folder.answer(&["--strategy", "dpor", "--executions", "5", &program]);
    assert_eq!((&answer["verdict"], number(&answer, "executions")), (&"gave-up".into(), 5), "{answer}");
    assert_eq!(answer["limit"], "limit of 5 executions");
    let run = folder.explore(&["--bound", "9", "--timeout", "300ms", &program]);
    assert!(run.code() == 3 && run.stdout().starts_with("gave up: "), "{}", run.stdout());
    // What was finished before that stands.
    assert!(
        run.stdout().contains("limit of 0.3 s") && run.stdout().contains("were tried"),
        "{}",
        run.stdout()
    );
    let model = root().join("corpus/algorithms/lamport2-ra.tpl").display().to_string();
    let answer = folder.answer(&["--model", "ra", "--steps", "500", &model]);
    assert!(answer["limit"].to_string().contains("more than 500 steps"), "{answer}");
}

/// Strategies that pick at random come to the end of their executions, and prove nothing but what they say.
#[test]
fn random_strategies_end() {
    let folder = Folder::new("random");
    let program = folder.corpus("small/sb-fences.c");
    let answer = folder.answer(&["--strategy", "pct", "--depth", "2", "--executions", "50", &program]);
    assert_eq!(
        (&answer["verdict"], number(&answer, "executions")),
        (&"nothing-found".into(), 50),
        "{answer}"
    );
    assert!(answer["guarantee"].as_str().is_some_and(|words| words.contains("depth 2")), "{answer}");
    let run = folder.explore(&["--strategy", "random", "--executions", "50", &program]);
    assert!(run.code() == 0 && run.stdout().contains("nothing is proved"), "{}", run.stdout());
    // The same seed, the same schedules.
    let distinct = |seed: &str| {
        let flags = ["--strategy", "random", "--executions", "30", "--seed", seed];
        let answer = folder.answer(&[&flags[..], &[&program]].concat());
        (number(&answer, "distinct"), number(&answer, "steps"))
    };
    assert_eq!(distinct("5"), distinct("5"));
}

#[test]
fn steps() {
    let text = "#include <stdatomic.h>\nstatic atomic_int x;\nint main(void) { for (;;) atomic_fetch_add(&x, 1); }\n";
    let folder = Folder::new("steps").with("endless.c", text);
    let program = folder.compile(&folder.path("endless.c"), &[]);
    let run = folder.explore(&["--steps", "1000", &program]);
    assert_eq!(run.code(), 3, "{}{}", run.stdout(), run.stderr());
    assert!(
        run.stdout().contains("more than 1000 steps") && run.stdout().contains("endless.c:3"),
        "{}",
        run.stdout()
    );
}

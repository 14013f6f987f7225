//! The solver behind a pipe: real questions, and solvers that answer late, die, or talk nonsense.

use seqcst_proof::solver::{Answer, Error, Options, Pool, Question};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn question(name: &str, declarations: &[&str], assertions: &[(&str, &str)], evaluate: &[&str]) -> Question {
    let own = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
    Question {
        name: name.to_owned(),
        declarations: own(declarations),
        assertions: assertions.iter().map(|(label, term)| (label.to_string(), term.to_string())).collect(),
        evaluate: own(evaluate),
    }
}

fn small() -> Question {
    question("small", &["(declare-const x Int)"], &[("a", "(< x (- 3))")], &["x", "(+ x 1)", "(< x 0)"])
}

/// Holes for one pigeon too few: hard, for a large number of them.
fn pigeons(holes: usize) -> Question {
    let mut out = question("pigeons", &[], &[], &[]);
    for pigeon in 0..=holes {
        let all: Vec<String> = (0..holes).map(|hole| format!("p{pigeon}_{hole}")).collect();
        out.declarations.extend(all.iter().map(|name| format!("(declare-const {name} Bool)")));
        out.assertions.push((String::new(), format!("(or {})", all.join(" "))));
    }
    for hole in 0..holes {
        for (one, other) in (0..=holes).flat_map(|one| (0..one).map(move |other| (one, other))) {
            out.assertions.push((String::new(), format!("(not (and p{one}_{hole} p{other}_{hole}))")));
        }
    }
    out
}

fn pool(options: Options) -> Pool {
    Pool::new(options).expect("Z3 is installed: see `cargo xtask setup`")
}

/// A solver made of a few lines of shell, in a folder that goes away with it.
struct Fake(PathBuf);

impl Fake {
    /// `script` comes after a proper introduction, if that is wanted.
    fn new(name: &str, introduces_itself: bool, script: &str) -> Fake {
        let folder = std::env::temp_dir().join(format!("seqcst-solver-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let introduction = "\
            read a; read b; read e\n\
            echo '(:name \"Z3\")'; echo '(:version \"4.8.12\")'; echo seqcst-1\n\
            while read line; do case $line in *seqcst-2*) break;; esac; done; echo seqcst-2\n";
        let introduction = if introduces_itself { introduction } else { "" };
        let program = folder.join("z3");
        // Another test may be about to start a process, which then holds this file open for writing for a moment.
        fs::write(
            folder.join("new"),
            format!("#!/bin/sh\ncd '{}'\n{introduction}{script}\n", folder.display()),
        )
        .unwrap();
        fs::set_permissions(folder.join("new"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(folder.join("new"), &program).unwrap();
        Fake(folder)
    }

    fn options(&self) -> Options {
        Options {
            program: Some(self.0.join("z3")),
            workers: 1,
            time_limit: Duration::from_millis(300),
            ..Options::default()
        }
    }

    fn start(&self) -> Result<Pool, Error> {
        // Busy for as long as a process that was forked in between has not yet executed its own program.
        loop {
            match Pool::new(self.options()) {
                Err(Error::Missing { why, .. }) if why.contains("busy") => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                other => return other,
            }
        }
    }

    fn ask(&self) -> Result<Vec<Answer>, Error> {
        self.start()?.ask_all(vec![small()])
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn why(answers: Result<Vec<Answer>, Error>) -> String {
    match &answers.unwrap()[..] {
        [Answer::Unknown { why }] => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn models_have_values() {
    let answers = pool(Options::default()).ask_all(vec![small()]).unwrap();
    let [Answer::Sat { values }] = &answers[..] else { panic!("{answers:?}") };
    let x: i64 = values[0].1.parse().unwrap();
    assert!(x < -3);
    assert_eq!(values[1], ("(+ x 1)".to_owned(), (x + 1).to_string()));
    assert_eq!(values[2].1, "true");
}

#[test]
fn cores_have_labels() {
    let core = question(
        "core",
        &["(declare-const x Int)", "(declare-const y Int)"],
        &[
            ("harmless", "(> y 3)"),
            ("order", "(< x y)"),
            ("low", "(>= y 0)"),
            ("order", "(< y x)"),
            ("|odd (label", "(= x 7)"),
        ],
        &[],
    );
    let mut pool = pool(Options { want_cores: true, ..Options::default() });
    assert_eq!(pool.ask_all(vec![core]).unwrap(), [Answer::Unsat { core: vec!["order".to_owned()] }]);
    let odd =
        question("odd", &["(declare-const x Int)"], &[("|odd (label", "(= x 7)"), ("b", "(= x 8)")], &[]);
    let expected = Answer::Unsat { core: vec!["|odd (label".to_owned(), "b".to_owned()] };
    assert_eq!(pool.ask_all(vec![odd]).unwrap(), [expected]);
}

#[test]
fn answers_belong_to_their_questions() {
    let number = |n: usize| {
        let term = format!("(= x {n})");
        question("n", &["(declare-const x Int)"], &[("", &term)], &["x"])
    };
    let mut pool = pool(Options::default());
    let answers = pool.ask_all((0..200).map(number).collect()).unwrap();
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(*answer, Answer::Sat { values: vec![("x".to_owned(), n.to_string())] });
    }
    assert_eq!(pool.asked(), 200);
}

/// More text in both directions than any pipe holds.
#[test]
fn large_questions() {
    let mut large = question("large", &[], &[], &[]);
    for n in 0..20_000 {
        large.declarations.push(format!("(declare-const variable_with_a_long_name_{n} Int)"));
        large.assertions.push((n.to_string(), format!("(= variable_with_a_long_name_{n} (- {n}))")));
        large.evaluate.push(format!("variable_with_a_long_name_{n}"));
    }
    let answers = pool(Options { time_limit: Duration::from_secs(60), ..Options::default() })
        .ask_all(vec![large])
        .unwrap();
    let [Answer::Sat { values }] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(values[12_345].1, "-12345");
}

#[test]
fn time_limits_hold_and_the_next_question_is_answered() {
    let mut pool = pool(Options { time_limit: Duration::from_millis(200), workers: 1, ..Options::default() });
    let start = Instant::now();
    let answers = pool.ask_all(vec![pigeons(14), small()]).unwrap();
    assert_eq!(answers[0], Answer::Unknown { why: "the solver found no answer within 0.2 s".to_owned() });
    assert!(matches!(answers[1], Answer::Sat { .. }));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn memory_limits_hold() {
    let mut pool = pool(Options { memory_limit: 20, workers: 1, ..Options::default() });
    let answers = pool.ask_all(vec![pigeons(60), small()]).unwrap();
    let expected = "the solver needs more than 20 MB of memory".to_owned();
    assert_eq!(answers[0], Answer::Unknown { why: expected });
    assert!(matches!(answers[1], Answer::Sat { .. }));
}

#[test]
fn what_is_under_way_can_be_stopped() {
    let mut pool = pool(Options { time_limit: Duration::from_secs(300), ..Options::default() });
    let start = Instant::now();
    let mut seen = Vec::new();
    pool.ask(vec![pigeons(14), small(), pigeons(14)], |number, _| {
        seen.push(number);
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(seen, [1]);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(matches!(pool.ask_all(vec![small(), small(), small()]).unwrap()[2], Answer::Sat { .. }));
}

#[test]
fn mistakes_in_questions_are_told() {
    let bad = question("bad", &[], &[("a", "(> zz 3)")], &[]);
    let mut pool = pool(Options::default());
    let error = pool.ask_all(vec![bad]).unwrap_err();
    assert!(
        error.to_string().starts_with("the solver did not understand the question `bad`: line "),
        "{error}"
    );
    assert!(matches!(pool.ask_all(vec![small()]).unwrap()[0], Answer::Sat { .. }));
}

#[test]
fn no_solver() {
    let program = Some(PathBuf::from("/nowhere/z3"));
    let error = Pool::new(Options { program, ..Options::default() }).err().unwrap();
    assert!(matches!(error, Error::Missing { .. }));
    assert!(
        error.to_string().starts_with("cannot run the solver /nowhere/z3: no such program; install Z3"),
        "{error}"
    );
}

#[test]
fn old_and_other_solvers() {
    let says = |name: &str, version: &str| {
        format!(
            "read a; read b; read e; echo '(:name \"{name}\")'; echo '(:version \"{version}\")'; echo seqcst-1; cat > /dev/null"
        )
    };
    let old = Fake::new("old", false, &says("Z3", "4.7.1"));
    assert!(matches!(old.ask().unwrap_err(), Error::TooOld { version, .. } if version == "4.7.1"));
    let other = Fake::new("other", false, &says("cvc5", "1.2.0"));
    assert!(matches!(other.ask().unwrap_err(), Error::NotZ3 { name, .. } if name == "cvc5"));
    let new = Fake::new("new", false, &says("Z3", "5.0"));
    // Not too old, but this one says nothing else.
    let broken = new.ask().unwrap_err();
    assert!(matches!(broken, Error::Broken { .. }), "{broken:?}");
}

#[test]
fn solvers_that_end_at_once() {
    let fake = Fake::new("ends", false, "exit 3");
    assert!(fake.ask().unwrap_err().to_string().contains("it ended at once (exit status: 3)"));
}

#[test]
fn nonsense() {
    let from_the_start = Fake::new("nonsense", false, "while read line; do echo 'who is there'; done");
    let echo = "while read line; do echo 'hello?'; case $line in *echo*) echo ${line#*\\\"} | tr -d '\")';; esac; done";
    let later = Fake::new("later", true, echo);
    let error = later.ask().unwrap_err();
    assert!(error.to_string().contains("asked `small`, it says `hello?"), "{error}");
    let endless = Fake::new("endless", true, "exec yes");
    assert!(endless.ask().unwrap_err().to_string().contains("have no end"));
    let error = from_the_start.ask().unwrap_err();
    assert!(error.to_string().contains("no answer"), "{error}");
}

#[test]
fn solvers_that_neither_read_nor_answer_are_stopped() {
    let fake = Fake::new("asleep", true, "exec sleep 100");
    let start = Instant::now();
    let mut pool = fake.start().unwrap();
    // Larger than a pipe: writing it must not block for ever either.
    let answers = pool.ask_all(vec![pigeons(40)]);
    assert!(why(answers).contains("did not keep to its limit of 0.3 s"));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn solvers_that_die_are_started_again_once() {
    let always = Fake::new("dies", true, "read line; kill -9 $$");
    assert!(why(always.ask()).contains("ended twice in the middle of it (signal: 9"));
    // The second time, the real one.
    let once = Fake::new("recovers", false, "if test -e died; then exec z3 \"$@\"; fi");
    let script = fs::read_to_string(once.0.join("z3")).unwrap();
    let dying = script.clone()
        + "touch died\nread a; read b; read e\necho '(:name \"Z3\")'; echo '(:version \"4.8.12\")'; echo seqcst-1\nread a; read b; read e; echo seqcst-2\nread line; kill -9 $$\n";
    fs::write(once.0.join("z3"), dying).unwrap();
    assert!(matches!(once.ask().unwrap()[0], Answer::Sat { .. }));
}

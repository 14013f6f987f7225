//! Programs in C: those of `corpus/c/small` have a verdict for each model in their headers.

use crate::{Folder, number};
use seqcst_testing::corpus::{self, Verdict};

/// Sober's experiments (Burckhardt and Musuvathi, CAV 2008, Fig. 1(b) and Fig. 4), and programs of Margalit and Lahav's:
/// what is not robust is found with up to two preemptions and replayed, what is robust is silent.
#[test]
fn small_programs() {
    let folder = Folder::new("small");
    let mut wrong = Vec::new();
    for source in corpus::programs("c/small", &["c"]).unwrap_or_else(|why| panic!("{why}")) {
        let program = folder.compile(&source.path, &[]);
        let args = &source.header.args[0];
        for model in ["sc", "rc11", "rc20", "tso"] {
            let Some(expected) = source.header.verdict(model) else {
                panic!("{program}: no verdict for {model}")
            };
            let mut words = vec!["--model", model, "--executions", "3000", &program];
            words.extend(args.split_whitespace());
            let answer = folder.answer(&words);
            let verdict = answer["verdict"].as_str().unwrap_or_default();
            let fits = match expected {
                Verdict::Robust => ["robust", "nothing-found"].contains(&verdict),
                _ => verdict == expected.name(),
            };
            if !fits {
                wrong.push(format!("{program} {args} under {model}: {verdict}, not {expected:?}: {answer}"));
            } else if expected != Verdict::Robust && folder.again(&answer)["verdict"] != verdict {
                wrong.push(format!("{program} {args} under {model}: not the same again: {answer}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the run-time monitor alone needed luck: seqlock (not found in an hour by Margalit et al., PLDI 2025, §6.1), Ex. 3.1,
/// event counters with 8 threads, Lamport's fast mutex.
#[test]
fn found_in_seconds() {
    let folder = Folder::new("found");
    let cases: [(&str, &[&str], &str); 4] = [
        ("small/seqlock.c", &[], "not-robust"),
        ("small/ex-3-1.c", &[], "not-robust"),
        ("small/event-counters-relaxed.c", &["8"], "not-robust"),
        ("small/lamport.c", &[], "not-robust"),
    ];
    for (source, args, expected) in cases {
        let program = folder.corpus(source);
        for strategy in [&["--strategy", "bounded", "--bound", "2"][..], &["--strategy", "pct"]] {
            let answer = folder.answer(&[strategy, &["--timeout", "60", &program], args].concat());
            assert_eq!(answer["verdict"], expected, "{source} {strategy:?}: {answer}");
            assert_eq!(folder.again(&answer)["verdict"], expected, "{source}: {}", answer["replay"]);
        }
    }
}

const ASSERTS: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;
static void *add(void *how) {
    int seen = atomic_load(&x);
    atomic_store(&x, seen + 1); // an update can be lost
    return how;
}
int main(int many, char **args) {
    pthread_t one, two;
    (void)args;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    if (many == 1)
        assert(atomic_load(&x) == 2);
    if (many == 2 && atomic_load(&x) != 2)
        abort();
    if (many == 3 && atomic_load(&x) != 2)
        *(volatile int *)8 = 1;
    return atomic_load(&x) == 2 ? 0 : 7;
}
";

/// What fails without any memory model: the message, the signal, the exit code.
#[test]
fn failures() {
    let folder = Folder::new("failures").with("lost.c", ASSERTS);
    let program = folder.compile(&folder.path("lost.c"), &[]);
    for (args, verdict, said) in [
        (&[][..], "assertion", "atomic_load(&x) == 2"),
        (&["a", "b"], "crash", "SIGSEGV"),
        (&["a", "b", "c"], "exit-code", "exit code 7"),
    ] {
        let answer = folder.answer(&[&[&*program], args].concat());
        assert_eq!(answer["verdict"], verdict, "{answer}");
        let message = answer["found"]["message"].to_string();
        assert!(message.contains(said), "{said}: {message}");
        let again = folder.again(&answer);
        assert_eq!(
            (&again["verdict"], &again["found"]["message"]),
            (&answer["verdict"], &answer["found"]["message"])
        );
        let text = folder.explore(&[&[&*program], args].concat());
        assert_eq!(text.code(), 1);
        assert!(text.stdout().contains(said) && text.stdout().contains("← preemption"), "{}", text.stdout());
    }
    // One preemption is enough, and needed.
    let answer = folder.answer(&["--strategy", "random", "--minimize", &program]);
    let schedule = answer["found"]["schedule"].as_array().expect("a schedule");
    let preemptions = schedule.iter().filter(|step| step["preempts"] == true).count();
    assert_eq!(preemptions, 1, "{answer}");
    assert!(answer["found"]["message"].to_string().contains("no schedule with fewer shows it"), "{answer}");
    assert_eq!(number(&folder.answer(&["--bound", "0", &program]), "borderline"), 0);
}

const LOCKS: &str = "\
#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *unused) {
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first); // line 5
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second); // line 14
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    pthread_join(thread, 0);
}
";

/// Who waits for what, and where.
#[test]
fn deadlocks() {
    let folder = Folder::new("deadlocks").with("locks.c", LOCKS);
    let program = folder.compile(&folder.path("locks.c"), &[]);
    for strategy in ["bounded", "dpor"] {
        let answer = folder.answer(&["--strategy", strategy, &program]);
        assert_eq!(answer["verdict"], "deadlock", "{answer}");
        let message = answer["found"]["message"].to_string();
        for part in ["main wants to lock second, locks.c:14", "thread 1 wants to lock first, locks.c:5"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert_eq!(folder.again(&answer)["verdict"], "deadlock");
    }
}

const SPINS: &str = "\
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *never(void *unused) {
    while (atomic_load(&flag) == 0) // line 5
        ;
    return unused;
}
int main(int many, char **args) {
    pthread_t thread;
    (void)args;
    pthread_create(&thread, 0, never, 0);
    if (many > 1)
        atomic_store(&flag, 1);
    pthread_join(thread, 0);
}
";

/// Spinning is waiting: it ends when somebody writes, else never.
#[test]
fn livelocks() {
    let folder = Folder::new("livelocks").with("spins.c", SPINS);
    let program = folder.compile(&folder.path("spins.c"), &[]);
    let answer = folder.answer(&[&program]);
    assert_eq!(answer["verdict"], "livelock", "{answer}");
    assert!(
        answer["found"]["message"].to_string().contains("thread 1 spins at load flag, spins.c:5"),
        "{answer}"
    );
    let answer = folder.answer(&["--strategy", "dpor", &program, "now"]);
    assert_eq!((&answer["verdict"], number(&answer, "distinct")), (&"robust".into(), 2), "{answer}");
}

const RACE: &str = "\
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready;
static int data;
static void *reader(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_relaxed))
        data++; // line 7
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    data = 1; // line 13
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    pthread_join(thread, 0);
}
";

/// A race that shows in one order only, reported as the sanitizer does.
#[test]
fn races() {
    let folder = Folder::new("races").with("race.c", RACE);
    let program = folder.compile(&folder.path("race.c"), &[]);
    let answer = folder.answer(&["--strategy", "dpor", &program]);
    assert_eq!(answer["verdict"], "race", "{answer}");
    let report = &answer["found"]["reports"][0];
    assert_eq!(report["kind"], "race", "{answer}");
    let text = folder.explore(&["--strategy", "dpor", &program]).stdout();
    assert!(
        text.starts_with("data race: ./race under rc11")
            && text.contains("race.c:7")
            && text.contains("race.c:13"),
        "{text}"
    );
    let answer = folder.answer(&["--strategy", "dpor", "--no-races", &program]);
    assert_eq!(answer["verdict"], "robust", "{answer}");
}

/// Borderline executions are counted, and the monitor can be left out.
#[test]
fn counting() {
    let folder = Folder::new("counting");
    let program = folder.corpus("small/dekker.c");
    let flags = ["--model", "tso", "--keep-going", "--bound", "1"];
    let answer = folder.answer(&[&flags[..], &[&program]].concat());
    let (executions, borderline) = (number(&answer, "executions"), number(&answer, "borderline"));
    assert!(executions > 3 && borderline > 0 && borderline <= executions, "{answer}");
    assert_eq!((&answer["verdict"], &answer["finished_bound"]), (&"not-robust".into(), &1.into()));
    let answer = folder.answer(&[&flags[..], &["--no-monitor", &program]].concat());
    assert_eq!((number(&answer, "executions"), number(&answer, "borderline")), (executions, 0), "{answer}");
    assert_eq!(answer["verdict"], "nothing-found");
}

/// What the program prints is shown on request, and never on standard output.
#[test]
fn output_of_the_program() {
    let text =
        "#include <stdio.h>\nint main(void) { puts(\"hello\"); fputs(\"there\\n\", stderr); return 1; }\n";
    let folder = Folder::new("output").with("says.c", text);
    let program = folder.compile(&folder.path("says.c"), &[]);
    let run = folder.explore(&[&program]);
    assert_eq!((run.code(), run.stderr()), (1, String::new()));
    assert!(!run.stdout().contains("hello"));
    let run = folder.explore(&["--show-output", &program]);
    assert!(run.stderr().contains("hello\n") && run.stderr().contains("there\n"), "{}", run.stderr());
    assert!(!run.stdout().contains("hello"));
}

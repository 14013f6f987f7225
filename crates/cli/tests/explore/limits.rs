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

/// "All schedules" is said when all were executed, and not before: neither after the first finding, nor when the last one
/// was planned but not executed any more.
#[test]
fn all_is_all() {
    let text = "global x, y;\nfn a { local r; x.store(1); r = y.load(); }\nfn b { local r; y.store(1); r = x.load(); }\n";
    let folder = Folder::new("all").with("sb.tpl", text);
    let model = folder.path("sb.tpl").display().to_string();
    let run = |flags: &str| folder.answer(&flags.split_whitespace().chain([&*model]).collect::<Vec<_>>());
    for strategy in ["--strategy bounded --bound 9", "--strategy dpor", "--strategy dpor --bound 9"] {
        let whole = run(&format!("{strategy} --keep-going"));
        let many = number(&whole, "executions");
        assert_eq!(whole["exhausted"], true, "{whole}");
        assert!(many > 2, "{whole}");
        let up_to = |answer: &serde_json::Value, bound: u64| -> u64 {
            let bounds = answer["bounds"].as_array().into_iter().flatten();
            let counted = bounds.filter(|each| number(each, "preemptions") <= bound);
            counted.map(|each| number(each, "executions")).sum()
        };
        for executions in 1..many {
            let part = run(&format!("{strategy} --keep-going --executions {executions}"));
            assert_eq!(part["exhausted"], false, "{executions}: {part}");
            if let Some(bound) = part["finished_bound"].as_u64() {
                assert_eq!(up_to(&part, bound), up_to(&whole, bound), "{executions}: {part}");
            }
            let first = run(&format!("{strategy} --executions {executions}"));
            assert_eq!(first["exhausted"], false, "{first}");
            assert!(!first["proved"].to_string().contains("were tried"), "{first}");
        }
    }
}

/// Waiting under a lock, politely or not, with and without a yield; and a loop that counts its rounds for all to see.
const POLLS: &str = "\
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int spins, flag;
static int ready;
static int is_ready(void) {
    pthread_mutex_lock(&mutex);
    int now = ready;
    pthread_mutex_unlock(&mutex);
    return now;
}
static void *polls(void *how) {
    switch (*(char *)how) {
    case 'y': while (!is_ready()) sched_yield(); break;
    case 't': while (pthread_mutex_trylock(&mutex)) sched_yield(); pthread_mutex_unlock(&mutex); break;
    case 'c': while (!atomic_load(&flag)) atomic_fetch_add(&spins, 1); break;
    default: while (!is_ready()) ; break;
    }
    return 0;
}
int main(int count, char **words) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, polls, words[count - 1]);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    atomic_store(&flag, 1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
";

#[test]
fn who_polls_lets_others_go_first() {
    let folder = Folder::new("polls").with("polls.c", POLLS);
    let program = folder.compile(&folder.path("polls.c"), &[]);
    for how in ["yield", "try"] {
        for strategy in ["bounded", "dpor", "pct", "random"] {
            let flags = ["--strategy", strategy, "--executions", "3000", "--timeout", "60"];
            let answer = folder.answer(&[&flags[..], &[&program, how]].concat());
            let fine = ["nothing-found", "robust"].contains(&answer["verdict"].as_str().unwrap_or_default());
            assert!(fine, "{strategy}, {how}: {answer}");
            let each = number(&answer, "steps") / number(&answer, "executions");
            assert!(each < 200, "{strategy}, {how}: {each} steps each: {answer}");
            assert!(answer["held_back"].is_null() || answer["exhausted"] == false, "{answer}");
        }
    }
    for how in ["lock", "count"] {
        for strategy in ["bounded", "dpor", "pct", "random"] {
            let answer = folder.answer(&["--strategy", strategy, "--executions", "20", &program, how]);
            // No execution comes to the limit of steps.
            assert!(answer["given_up"].is_null(), "{strategy}, {how}: {answer}");
        }
    }
}

/// Executions that don't come back, in every way: time is up when it is up.
const ENDLESS: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int x, done;
static volatile int forever = 1;
static void *work(void *how) {
    if (atomic_load(&x) == 0) {
        switch (*(char *)how) {
        case 's': while (forever) ; break;
        case 'p': for (;;) pause(); break;
        case 'a': for (;;) atomic_fetch_add(&done, 1); break;
        case 'f': return 0;
        }
    }
    assert(*(char *)how == 'n');
    return 0;
}
int main(int count, char **words) {
    pthread_t thread;
    char *how = words[count - 1];
    if (*how == 'm') { how = \"s\"; }
    pthread_create(&thread, 0, work, how);
    if (words[1][0] == 'm') pthread_join(thread, 0);
    atomic_store(&x, 1);
    pthread_join(thread, 0);
}
";

#[test]
fn time_is_up_whatever_an_execution_does() {
    let folder = Folder::new("endless").with("endless.c", ENDLESS);
    let program = folder.compile(&folder.path("endless.c"), &[]);
    // Always hangs, and the limit is shorter than --hang.
    let start = std::time::Instant::now();
    let run = folder.explore(&["--timeout", "1", "--hang", "100", &program, "main"]);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert!(run.code() == 3 && run.stdout().contains("limit of 1 s"), "{}{}", run.stdout(), run.stderr());
    // Very long executions.
    let start = std::time::Instant::now();
    let flags = ["--timeout", "1", "--steps", "16000000", "--strategy", "dpor"];
    let text = "#include <stdatomic.h>\nstatic atomic_int x;\nint main(void) { for (;;) atomic_fetch_add(&x, 1); }\n";
    let long = Folder::new("long").with("long.c", text);
    let endless = long.compile(&long.path("long.c"), &[]);
    let run = long.explore(&[&flags[..], &[&endless]].concat());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert!(run.code() == 3 && run.stdout().contains("limit of 1 s"), "{}{}", run.stdout(), run.stderr());
}

/// The process that makes the executions doesn't answer any more: one of them has stopped it.
#[test]
fn time_is_up_for_the_server_too() {
    let text = "#include <signal.h>\n#include <unistd.h>\nint main(void) { kill(getppid(), SIGSTOP); }\n";
    let folder = Folder::new("server").with("stops.c", text);
    let program = folder.compile(&folder.path("stops.c"), &[]);
    let start = std::time::Instant::now();
    let run = folder.explore(&["--timeout", "1", &program]);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    assert!(run.code() == 3 && run.stdout().contains("limit of 1 s"), "{}{}", run.stdout(), run.stderr());
}

/// What one execution does that doesn't come back says nothing of the others.
#[test]
fn one_endless_execution_is_not_all() {
    let folder = Folder::new("one").with("endless.c", ENDLESS);
    let program = folder.compile(&folder.path("endless.c"), &[]);
    for (how, flags) in [("spin", "--hang 1"), ("pause", "--hang 1"), ("add", "--steps 500")] {
        for strategy in ["bounded", "dpor", "random"] {
            let flags = flags.split(' ').chain(["--strategy", strategy, "--bound", "3", &program, how]);
            let answer = folder.answer(&flags.collect::<Vec<_>>());
            let verdict = answer["verdict"].as_str().unwrap_or_default();
            // With `random` all of three executions may hang.
            assert!(verdict == "assertion" || strategy == "random", "{how}, {strategy}: {answer}");
        }
    }
    // And if nothing is found in the others, not all is well.
    let answer = folder.answer(&[
        "--steps",
        "500",
        "--strategy",
        "bounded",
        "--bound",
        "1",
        "--timeout",
        "20",
        &program,
        "free",
    ]);
    assert!(answer["verdict"] == "assertion", "{answer}");
}

/// Who has not looked for stale accesses calls nothing robust.
#[test]
fn nothing_is_robust_without_a_monitor() {
    let text = "global x, y;\nfn a { local r; x.store(1); r = y.load(); }\nfn b { local r; y.store(1); r = x.load(); }\n";
    let folder = Folder::new("unwatched").with("sb.tpl", text);
    let model = folder.path("sb.tpl").display().to_string();
    assert_eq!(folder.answer(&[&model])["verdict"], "not-robust");
    for flags in [&["--no-monitor"][..], &["--model", "sc"], &["--no-monitor", "--model", "tso"]] {
        let answer = folder.answer(&[flags, &[&model]].concat());
        assert_eq!(answer["verdict"], "nothing-found", "{answer}");
        assert_eq!((&answer["model"], &answer["exhausted"]), (&"sc".into(), &true.into()), "{answer}");
    }
    let run = folder.explore(&["--no-monitor", &model]);
    let said = "all schedules were tried; stale accesses and data races were not looked for";
    assert!(run.stdout().contains(said), "{}", run.stdout());
}

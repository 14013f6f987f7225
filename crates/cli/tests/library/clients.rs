//! Small clients: what they pass to methods, what is looked for in them, and how an answer that they give is shown.

use super::{answers, library, scratch, text, write};
use serde_json::Value;
use std::process::Command;

/// The answer about a library with this source, and what is said in words; `flags` are separated by blanks.
#[track_caller]
fn answer(name: &str, source: &str, flags: &str) -> (Option<i32>, Value, String) {
    let path = write(&scratch(name), "it.c", &format!("#include <stdatomic.h>\n{source}"));
    let args: Vec<&str> = flags.split_whitespace().chain([path.as_str()]).collect();
    let (code, mut said) = answers(&args);
    (code, said.remove(0), text(&library(&args).stdout))
}

/// The calls of the client that confirms an answer.
fn threads(answer: &Value) -> Vec<String> {
    let client = &answer["client"];
    assert_eq!(client["confirmed"], true, "{answer}");
    let calls = |thread: &Value| {
        let calls = thread.as_array().expect("calls").iter();
        calls.map(|call| call.as_str().expect("a call").to_owned()).collect::<Vec<_>>().join("; ")
    };
    client["threads"].as_array().expect("threads").iter().map(calls).collect()
}

/// Store buffering between `f` and `g`, behind a condition each.
fn behind(first: &str, second: &str) -> String {
    let method = |name, condition: &str, mine, other| {
        format!(
            "int {name}(int v) {{ if ({condition}) {{ atomic_store_explicit(&{mine}, 1, memory_order_release);
             return atomic_load_explicit(&{other}, memory_order_acquire); }} return v; }}\n"
        )
    };
    format!("static atomic_int x, y;\n{}{}", method("f", first, "x", "y"), method("g", second, "y", "x"))
}

#[test]
fn arguments_may_be_0() {
    let (code, said, _) = answer("zero", &behind("v == 0", "!v"), "");
    assert_eq!((code, threads(&said)), (Some(1), vec!["f(0)".to_owned(), "g(0)".to_owned()]));
}

#[test]
fn arguments_may_be_what_the_library_compares_with() {
    let (code, said, _) = answer("constants", &behind("v > 41", "v == 7"), "");
    assert_eq!((code, threads(&said)), (Some(1), vec!["f(42)".to_owned(), "g(7)".to_owned()]));
}

/// Store buffering where the writes are updates, some of numbers that wrap around.
#[test]
fn updates_are_tried() {
    for (ty, update) in [
        ("int", "atomic_fetch_add_explicit(&MINE, 1, memory_order_relaxed)"),
        ("unsigned", "atomic_fetch_add_explicit(&MINE, 3, memory_order_relaxed)"),
        ("short", "atomic_fetch_sub_explicit(&MINE, 2, memory_order_relaxed)"),
        ("unsigned char", "atomic_fetch_sub_explicit(&MINE, 1, memory_order_relaxed)"),
        ("int", "atomic_fetch_xor_explicit(&MINE, 5, memory_order_relaxed)"),
        ("_Bool", "atomic_exchange_explicit(&MINE, 1, memory_order_relaxed)"),
    ] {
        let method = |name, mine, other| {
            let update = update.replace("MINE", mine);
            format!(
                "int {name}(void) {{ {update}; return atomic_load_explicit(&{other}, memory_order_relaxed); }}\n"
            )
        };
        let source = format!("static _Atomic {ty} x, y;\n{}{}", method("f", "x", "y"), method("g", "y", "x"));
        let (code, said, _) = answer("updates", &source, "");
        assert_eq!(
            (code, threads(&said)),
            (Some(1), vec!["f()".to_owned(), "g()".to_owned()]),
            "{ty} {update}"
        );
    }
}

/// What is too large for a program may come up in between: here the difference of 0 and 1.
#[test]
fn unsigned_differences_are_tried() {
    let source = format!(
        "static _Atomic unsigned n, m;\n{}void inc(void) {{ atomic_fetch_add_explicit(&m, 1, memory_order_relaxed); }}",
        behind(
            "atomic_load_explicit(&n, memory_order_relaxed) - atomic_load_explicit(&m, memory_order_relaxed) > 5u",
            "1"
        )
    );
    let (code, said, _) = answer("differences", &source, "--proof-limit 1");
    let found = threads(&said).join("; ");
    assert!(code == Some(1) && found.contains("inc()") && found.contains("f("), "{found}");
}

/// What calls are given is converted: a `_Bool` is never 2, and an unsigned number never -1.
#[test]
fn arguments_are_of_their_types() {
    for (ty, condition) in [("_Bool", "v > 1"), ("unsigned char", "v > 255"), ("unsigned", "v < 0")] {
        for (ty, can_be) in [(ty, false), ("int", true)] {
            let source = behind(condition, condition).replace("int v", &format!("{ty} v"));
            // No proof is found in this time.
            let (_, said, _) = answer("types", &source, "--proof-limit 0.001 --bounds 2,1");
            assert_eq!(said["client"]["confirmed"], can_be, "{ty} {condition}: {said}");
        }
    }
}

/// Once two methods work on one record, once one method works on two.
#[test]
fn clients_bring_records() {
    let node = "//@ object: none\nstruct node { atomic_int x, y; struct node *next; };\n";
    let method = |name, mine, other| {
        format!(
            "int {name}(struct node *n) {{ atomic_store_explicit(&n->{mine}, 1, memory_order_release);
             return atomic_load_explicit(&n->{other}, memory_order_acquire); }}\n"
        )
    };
    let source = format!("{node}{}{}", method("f", "x", "y"), method("g", "y", "x"));
    let (code, said, _) = answer("records", &source, "");
    assert_eq!((code, threads(&said)), (Some(1), vec!["f(&record1)".to_owned(), "g(&record1)".to_owned()]));
    let register = format!(
        "{node}void set(struct node *n) {{ atomic_store_explicit(&n->x, 1, memory_order_release); }}
         int get(struct node *n) {{ return atomic_load_explicit(&n->x, memory_order_acquire); }}\n"
    );
    let (code, said, _) = answer("registers", &register, "");
    assert_eq!(code, Some(1));
    let all = threads(&said).join(" ");
    assert!(all.contains("&record1") && all.contains("&record2"), "{all}");
}

/// The proof fails for an atomic variable first, which no client confirms.
#[test]
fn races_are_looked_for_whatever_the_proof_fails_for() {
    let hit = "static int hits;\nvoid hit(void) { hits = 1; }\n";
    let source = format!("{}{hit}", behind("v == 12345", "v == 12345"));
    let (code, said, shown) = answer("races", &source, "--explain");
    assert_eq!(said["witness"]["problem"]["kind"], "unproved", "{shown}");
    assert_eq!((code, &said["client"]["shows"]), (Some(1), &"it has a data race".into()), "{shown}");
}

/// Nobody brings what `wait` waits for, but in clients that call `bring` as well.
#[test]
fn clients_that_can_show_nothing_are_no_robust_ones() {
    let source = "static atomic_int x, y;
        void bring(void) { atomic_store_explicit(&x, 1, memory_order_relaxed); }
        void wait(void) { while (atomic_load_explicit(&x, memory_order_relaxed) != 2) ; }
        int get(void) { atomic_store_explicit(&y, 1, memory_order_relaxed); return atomic_load_explicit(&x, memory_order_relaxed); }\n";
    let (code, said, _) = answer("idle", source, "--bounds 2,1");
    let why = said["client"]["why"].as_str().unwrap_or_default().to_owned();
    assert_eq!(code, Some(1), "{said}");
    // Six pairs of methods, of which three have no `wait`.
    assert!(why.starts_with("3 clients with up to 2 threads of up to 1 calls are robust ("), "{why}");
    assert!(why.contains("3 can show nothing (no execution comes to an end, or no two threads"), "{why}");
}

/// Numbers that look like addresses, and those for which there is no room.
#[test]
fn numbers_do_not_wrap_around() {
    let (_, said, _) = answer(
        "large",
        "static _Atomic long x, y;
         long f(void) { atomic_store_explicit(&x, 1099511627776, memory_order_release); return atomic_load_explicit(&y, memory_order_acquire); }
         long g(void) { atomic_store_explicit(&y, 1, memory_order_release); return atomic_load_explicit(&x, memory_order_acquire) == 1; }\n",
        "",
    );
    let why = said["client"]["why"].as_str().unwrap_or_default();
    assert!(why.contains("without an answer (numbers beyond 30000 are not modelled)"), "{said}");
    let take = "atomic_fetch_sub_explicit(&z, 16, memory_order_relaxed)";
    let source =
        format!("static atomic_int z;\n{}", behind(&format!("{take} == 0"), &format!("{take} == -16")));
    let (code, said, _) = answer("negative", &source, "");
    assert_eq!((code, &said["client"]["confirmed"]), (Some(1), &true.into()), "{said}");
}

/// Where there can be two threads only, these make more calls: the answer says so.
#[test]
fn bounds_are_those_of_the_search() {
    let out = library(&[
        "--disable",
        "fresh-records",
        "--disable",
        "one-thread",
        "--try-time",
        "20",
        "spsc-unbounded.c",
    ]);
    let said = text(&out.stdout);
    assert!(
        said.contains(" with up to 2 threads of up to 4 calls are robust and free of data races ("),
        "{said}"
    );
}

#[test]
fn the_program_of_a_client_is_shown_and_kept() {
    let kept = scratch("kept").join("kept.tpl").display().to_string();
    let out = library(&["--keep-client", &kept, "two-registers.c"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    let program = std::fs::read_to_string(&kept).expect("was written");
    assert!(said.contains(&format!("the client as a program for `seqcst check`, {kept}:\n")), "{said}");
    assert!(said.contains(&format!("[ {kept}:")) && !said.contains("client.tpl"), "{said}");
    for line in program.lines().filter(|line| !line.is_empty()) {
        assert!(said.contains(&format!(" | {line}\n")), "{line}: {said}");
    }
    // It is what the answer says it is.
    let check = Command::new(env!("CARGO_BIN_EXE_seqcst")).args(["check", "--model", "rc20", &kept]).output();
    let check = check.expect("seqcst runs");
    assert_eq!(check.status.code(), Some(1), "{}", text(&check.stdout));
    let (_, said) = answers(&["two-registers.c"]);
    let client = &said[0]["client"];
    assert_eq!(
        (&client["program"]["file"], &client["program"]["text"]),
        (&"client.tpl".into(), &program.into())
    );
}

#[test]
fn nothing_is_kept_where_there_is_nothing() {
    let kept = scratch("not-kept").join("kept.tpl");
    let name = kept.display().to_string();
    let out = library(&["--keep-client", &name, "register.c"]);
    assert_eq!(out.status.code(), Some(0));
    assert!(text(&out.stderr).contains("note: not written, there is no client to keep") && !kept.exists());
    for args in [
        &["--keep-client", "register.c", "register.c"][..],
        &["--keep-client", &name, "register.c", "treiber.c"],
    ] {
        assert_eq!(library(args).status.code(), Some(2));
    }
    let said = text(&library(&["--keep-client", &name, "register.c", "treiber.c"]).stderr);
    assert!(said.contains("name one FILE, not 2"), "{said}");
}

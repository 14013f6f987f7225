//! Clients of several libraries (\[RoboCop24], Fig. 1).

use super::{answers, library, scratch, text, write};

const LIBRARIES: [&str; 2] = ["compose/first.c", "compose/second.c"];

fn with(client: &str, more: &[&str]) -> Vec<String> {
    [&["--compose", client], more, &LIBRARIES[..]].concat().into_iter().map(str::to_owned).collect()
}

fn call(args: &[String]) -> std::process::Output {
    library(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Each register is robust; both together show store buffering, unless there are fences.
#[test]
fn two_registers() {
    let out = call(&with("compose/client.c", &[]));
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines[0].starts_with("robust: compose/first.c for every client"), "{said}");
    assert!(lines[1].starts_with("robust: compose/second.c for every client"), "{said}");
    assert!(lines[2].starts_with("may be non-robust: compose/client.c — 2 pairs of calls"), "{said}");
    assert!(said.contains("  `set1` (compose/first.c), then `get2` (compose/second.c)\n"), "{said}");
    // The store-buffering client, and nothing else.
    let client = "  confirmed by this client of the same libraries, with no fences between such calls (it does what SC does not allow):\n    \
                  thread 1: set1(1); get2()\n    thread 2: set2(2); get1()\n";
    assert!(said.contains(client), "{said}");
    let out = call(&with("compose/client-fences.c", &[]));
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stdout));
    assert!(text(&out.stdout).contains("\nrobust: compose/client-fences.c with these libraries — threads: "));
}

#[test]
fn as_json() {
    let args = with("compose/client.c", &["--fix"]);
    let (code, said) = answers(&args.iter().map(String::as_str).collect::<Vec<_>>());
    // The client with fences is robust: that is what was asked for.
    assert_eq!((code, said.len()), (Some(0), 3));
    let client = &said[2];
    assert_eq!(
        (&client["file"], &client["verdict"]),
        (&"compose/client.c".into(), &"may-be-non-robust".into())
    );
    let missing = client["missing"].as_array().expect("pairs");
    assert_eq!(missing.len(), 2);
    assert_eq!(
        (&missing[0]["earlier"]["call"], &missing[0]["later"]["call"]),
        (&"set1".into(), &"get2".into())
    );
    assert_eq!(client["client"]["confirmed"], true);
    assert_eq!((&client["inserted"], &client["repaired"]), (&2.into(), &true.into()));
    assert!(client["fixed"].as_str().expect("text").contains("atomic_thread_fence(memory_order_seq_cst);"));
}

#[test]
fn repaired() {
    let folder = scratch("repaired");
    let target = folder.join("fixed.c").display().to_string();
    let out = call(&with("compose/client.c", &["--fix", "-o", &target]));
    assert_eq!(out.status.code(), Some(0));
    let shown = text(&out.stdout);
    assert!(shown.contains("2 fences put in; what came out was checked again, and is robust"), "{shown}");
    let out = call(&with(&target, &[]));
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stdout));
    // The same on standard output, with reports elsewhere.
    let out = call(&with("compose/client.c", &["--fix"]));
    assert_eq!(text(&out.stdout), std::fs::read_to_string(&target).expect("was written"));
    assert!(text(&out.stderr).contains("may be non-robust: compose/client.c"));
    // It is C, as compilers see it.
    let compiled = std::process::Command::new("cc")
        .args(["-std=c11", "-fsyntax-only", "-Wall", "-Werror", &target])
        .status();
    assert!(compiled.expect("cc runs").success());
}

/// One fence is not enough.
#[test]
fn one_missing_fence() {
    let folder = scratch("one-fence");
    let original = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../corpus/library/compose/client-fences.c"
    ));
    let one = original.expect("is there").replacen("    atomic_thread_fence(memory_order_seq_cst);\n", "", 1);
    let out = call(&with(&write(&folder, "one.c", &one), &["--no-try"]));
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stdout).contains("1 pair of calls to different libraries"), "{}", text(&out.stdout));
}

/// Fences do not help if a library is not robust by itself.
#[test]
fn all_libraries_have_to_be_robust() {
    let folder = scratch("weak-library");
    let client = write(&folder, "client.c", "int main(void) { return 0; }\n");
    let out = library(&["--no-try", "--compose", &client, "two-registers.c"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text(&out.stdout).contains("no fence is missing, but not all of its libraries are proved robust")
    );
}

/// Fences repair the client, not a library.
#[test]
fn a_repair_that_is_none() {
    let folder = scratch("no-repair");
    let client = write(
        &folder,
        "client.c",
        "#include <stdatomic.h>\nvoid set1(int);\nint get_left(void);\nvoid left(void) { set1(1); get_left(); }\n",
    );
    let out = library(&["--no-try", "--fix", "--compose", &client, "compose/first.c", "two-registers.c"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(
        text(&out.stderr).contains("checked again, and is not known to be robust"),
        "{}",
        text(&out.stderr)
    );
}

/// What stands in one order only in the client is tried in that order only: there nothing is wrong.
#[test]
fn clients_go_from_library_to_library_as_the_client_does() {
    let folder = scratch("one-order");
    let client = write(
        &folder,
        "client.c",
        "void set1(int);\nvoid set2(int);\nvoid left(void) { set1(1); set2(1); }\n",
    );
    let out = call(&with(&client, &[]));
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("  not confirmed: "), "{said}");
}

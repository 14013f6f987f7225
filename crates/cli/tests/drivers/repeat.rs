//! `seqcst run`.

use crate::{DEKKER, Folder, eventually};
use serde_json::Value;

/// A folder with `weak`, which is found fault with, and `strong`, which is not.
fn folder(test: &str) -> Folder {
    let folder = Folder::new(test).with("dekker.c", DEKKER);
    folder.seqcst("gcc", &["cc", "-O1", "dekker.c", "-o", "weak"]).ends(0);
    folder.seqcst("gcc", &["cc", "-O1", "-DFENCED", "dekker.c", "-o", "strong"]).ends(0);
    folder
}

fn compile(folder: &Folder, name: &str, text: &str) {
    std::fs::write(folder.path(&format!("{name}.c")), text).expect("a temporary file");
    folder.seqcst("gcc", &["cc", "-O1", &format!("{name}.c"), "-o", name]).ends(0);
}

#[test]
fn once() {
    let folder = folder("once");
    eventually(|| folder.seqcst("gcc", &["run", "./weak"])).says("stale load").ends(1);
    let run = folder.seqcst("gcc", &["run", "./strong"]).ends(0);
    assert_eq!((run.stdout(), run.stderr()), (String::new(), String::new()));
}

#[test]
fn several_times() {
    let folder = folder("several");
    let run = folder.seqcst("gcc", &["run", "-n", "30", "./weak"]).ends(1);
    let run = run.says("seqcst run: 30 runs of ./weak in ").says(" with reports, ");
    // At most one report for each of the two loads, although nearly every run has one.
    let reports = run.stderr().matches("WARNING: seqcst").count();
    assert!((1..=2).contains(&reports), "{}", run.stderr());
    folder.seqcst("gcc", &["run", "-n", "5", "./strong"]).says("0 with reports, 5 without").ends(0);
    let run = folder.seqcst("gcc", &["run", "-n", "500", "--until-found", "./weak"]).ends(1);
    run.says(": 1 with reports, ");
}

#[test]
fn json() {
    let folder = folder("json");
    let run = folder.seqcst("gcc", &["run", "-n", "30", "--format", "json", "./weak"]).ends(1);
    let answer = crate::schema::answer(&run.stdout());
    assert_eq!(answer["verdict"], "not-robust");
    assert_eq!(answer["model"], "rc11");
    assert_eq!(answer["runs"], 30);
    let runs: u64 =
        answer["reports"].as_array().expect("reports").iter().filter_map(|r| r["runs"].as_u64()).sum();
    assert_eq!(answer["runs_with_reports"], runs);
    folder.seqcst("gcc", &["run", "--format", "json", "-o", "out.json", "./strong"]).ends(0);
    let text = std::fs::read_to_string(folder.path("out.json")).expect("a file");
    let answer = crate::schema::answer(&text);
    assert_eq!(answer["verdict"], "nothing-found");
}

const FREED: &str = "\
#include <stdlib.h>
int main(void) {
    int *volatile block = malloc(100);
    free(block);
    return *(volatile int *)block == 1;
}
";

/// What is used after its end; not seen if nothing is kept, and kept back if that is wanted.
#[test]
fn misuses() {
    let folder = Folder::new("misuses");
    compile(&folder, "freed", FREED);
    folder.run("freed", &[]).says("WARNING: seqcst: use after free").says("1 misuse (1 occurrence)").ends(66);
    let run = folder.seqcst("gcc", &["run", "--format", "json", "./freed"]).ends(1);
    let answer = crate::schema::answer(&run.stdout());
    assert_eq!(answer["verdict"], "misuse");
    let report = &answer["reports"][0];
    assert_eq!((&report["kind"], &report["problem"]), (&"misuse".into(), &"use after free".into()));
    let line = |access: &str| report[access]["stack"][0]["line"].as_u64();
    assert_eq!(["access", "earlier", "allocated"].map(line), [Some(5), Some(4), Some(3)]);
    let run = folder.seqcst("gcc", &["run", "-n", "2", "./freed"]).ends(1);
    run.says("use after free: load (plain) freed.c:5 in main, after free freed.c:4 in main");
    folder.seqcst("gcc", &["run", "--option", "quarantine_mb=0", "./freed"]).ends(0);
    std::fs::write(folder.path("rules"), "misuse:main\n").expect("a temporary file");
    folder.seqcst("gcc", &["run", "--option", "suppressions=rules", "./freed"]).ends(0);
}

#[test]
fn sarif() {
    let folder = folder("sarif");
    folder
        .seqcst(
            "gcc",
            &["run", "-n", "30", "--until-found", "--format", "sarif", "-o", "out.sarif", "./weak"],
        )
        .ends(1);
    let text = std::fs::read_to_string(folder.path("out.sarif")).expect("a file");
    let log: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules: Vec<_> =
        run["tool"]["driver"]["rules"].as_array().expect("rules").iter().map(|r| &r["id"]).collect();
    assert_eq!(rules[..3], ["stale-access", "data-race", "benign-wait"]);
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"stale-access".into(), &"error".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "dekker.c");
    assert!([11, 19].map(Value::from).contains(&place["region"]["startLine"]), "{place}");
    assert_eq!(result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().map(Vec::len), Some(4));
}

#[test]
fn programs_that_are_not_instrumented() {
    let folder = folder("foreign").with("script", "#!/bin/sh\n./weak\n").with("text", "hello");
    let refused = |args: &[&str], why: &str| folder.seqcst("gcc", args).says(why).ends(2);
    refused(&["run", "/bin/true"], "was not instrumented");
    refused(&["run", "true"], "Build it with `seqcst cc`");
    refused(&["run", "./text"], "not an executable");
    refused(&["run", "./nothing"], "No such file");
    refused(&["run", "."], "this is a directory");
    refused(&["run", "weak"], "do you mean ./weak?");
    refused(&["run"], "PROGRAM");
    refused(&["run", "--children", "true"], "no program that true started");
    refused(&["run", "--option", "json=x", "./weak"], "--format json");
    refused(&["run", "--option", "nonsense=1", "./weak"], "nonsense");
    eventually(|| folder.seqcst("gcc", &["run", "--children", "sh", "./script"])).says("stale load").ends(1);
}

#[test]
fn options_reach_the_program() {
    let folder = folder("options");
    eventually(|| folder.seqcst("gcc", &["run", "--option", "exitcode=0", "./weak"])).says("stale").ends(1);
    let script = "SEQCST_OPTIONS=exitcode=7 seqcst run --option halt_on_error=1 --format json ./weak";
    let run = eventually(|| folder.tool("sh", &["-c", script])).ends(1);
    let answer = crate::schema::answer(&run.stdout());
    assert_eq!(answer["verdict"], "not-robust");
}

#[test]
fn programs_that_fail() {
    let folder = Folder::new("fail");
    compile(&folder, "crash", "#include <stdlib.h>\nint main(void) { abort(); }\n");
    compile(&folder, "seven", "int main(void) { return 7; }\n");
    compile(&folder, "sleep", "#include <unistd.h>\nint main(void) { for (;;) sleep(1); }\n");
    folder.seqcst("gcc", &["run", "./crash"]).says("was ended by signal 6 (SIGABRT)").ends(1);
    folder.seqcst("gcc", &["run", "-n", "2", "./seven"]).says("2 runs ended with exit code 7").ends(1);
    folder.seqcst("gcc", &["run", "--timeout", "300ms", "./sleep"]).says("took too long").ends(3);
}

#[test]
fn output_of_the_program() {
    let folder = Folder::new("output");
    let text = "#include <stdio.h>\nint main(int n, char **a) { (void)n; puts(a[1]); fputs(\"err\\n\", stderr); return 0; }\n";
    compile(&folder, "talk", text);
    let run = folder.seqcst("gcc", &["run", "./talk", "-n"]).ends(0);
    assert_eq!((run.stdout().as_str(), run.stderr().as_str()), ("-n\n", "err\n"));
    let run = folder.seqcst("gcc", &["run", "--quiet", "./talk", "x"]).ends(0);
    assert_eq!((run.stdout().as_str(), run.stderr().as_str()), ("", ""));
    let run =
        folder.seqcst("gcc", &["run", "--format", "json", "./talk", "x"]).says("x\n").says("err\n").ends(0);
    assert!(run.stdout().starts_with('{'), "{}", run.stdout());
}

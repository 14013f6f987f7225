//! Bad usage and bad programs: one message, exit code 2, nothing on standard output.

use crate::Folder;

#[track_caller]
fn refuses(folder: &Folder, args: &[&str], why: &str) {
    let run = folder.explore(args);
    assert_eq!(run.code(), 2, "{args:?}: {}{}", run.stdout(), run.stderr());
    assert!(run.stdout().is_empty() && run.stderr().contains(why), "{args:?}: {}", run.stderr());
}

#[test]
fn usage() {
    let folder =
        Folder::new("usage").with("bad.tpl", "what?").with("good.tpl", "global x; fn a { x.store(1); }");
    refuses(&folder, &[], "PROGRAM ARGS");
    refuses(&folder, &["--strategy", "all", "good.tpl"], "all");
    refuses(&folder, &["--depth", "0", "good.tpl"], "0");
    refuses(&folder, &["--executions", "0", "good.tpl"], "0");
    refuses(&folder, &["--replay", "x", "good.tpl"], "is no turn");
    refuses(&folder, &["--replay", "0", "--strategy", "dpor", "good.tpl"], "cannot be used with");
    refuses(&folder, &["good.tpl", "argument"], "takes no arguments");
    refuses(&folder, &["bad.tpl"], "bad.tpl:1:");
    refuses(&folder, &["nothing.tpl"], "no such file");
    refuses(&folder, &["--svg", "good.tpl", "good.tpl"], "not overwritten");
    let help = folder.explore(&["--help"]);
    assert_eq!(help.code(), 0);
    for flag in [
        "--strategy",
        "--bound",
        "--depth",
        "--seed",
        "--model",
        "--no-races",
        "--no-monitor",
        "--keep-going",
        "--replay",
        "--minimize",
        "--executions",
        "--timeout",
        "--steps",
        "--hang",
        "--option",
        "--format",
        "--show-output",
        "--svg",
        "--dot",
        "--color",
        "Exit codes",
        "Examples",
    ] {
        assert!(help.stdout().contains(flag), "{flag}");
    }
    assert!(help.stdout().lines().all(|line| line.chars().count() <= 120));
}

#[test]
fn programs() {
    let folder = Folder::new("not").with("text", "hello").with("plain.c", "int main(void) { return 0; }");
    refuses(&folder, &["./nothing"], "nothing");
    refuses(&folder, &["no-such-program-anywhere"], "no such program");
    refuses(&folder, &["./text"], "not an executable");
    refuses(&folder, &["."], "directory");
    refuses(&folder, &["/bin/true"], "not instrumented");
    let program = folder.compile(&folder.path("plain.c"), &[]);
    refuses(&folder, &["--svg", "x.svg", &program], "--svg");
    refuses(&folder, &["--option", "nonsense=1", &program], "nonsense");
    refuses(&folder, &["--option", "json=x", &program], "json");
    assert_eq!(folder.explore(&[&program]).code(), 0);
}

/// A program that ends before `main`, and one that never gets there.
#[test]
fn before_main() {
    let text = "#include <stdlib.h>\n#include <unistd.h>\n\
                __attribute__((constructor)) static void early(void) { if (getenv(\"EARLY\")) _exit(3); }\n\
                __attribute__((constructor)) static void late(void) { if (getenv(\"LATE\")) for (;;) pause(); }\n\
                int main(void) { return 0; }\n";
    let folder = Folder::new("early").with("early.c", text);
    let program = folder.compile(&folder.path("early.c"), &[]);
    for (variable, why) in [("EARLY", "ended before main (exit status: 3)"), ("LATE", "doesn't come to main")]
    {
        let output =
            folder.seqcst_command().args(["explore", "--hang", "1", &program]).env(variable, "1").output();
        let output = output.expect("seqcst runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(why), "{variable}: {said}");
    }
}

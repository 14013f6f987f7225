//! Command lines as build systems and people write them.

use crate::{DEKKER, Folder, all_compilers, compilers, eventually};

#[test]
fn one_command() {
    for compiler in all_compilers() {
        let folder = Folder::new(&format!("one-{compiler}")).with("dekker.c", DEKKER);
        for flags in [&["-O0"][..], &["-O2"], &["-O1", "-no-pie", "-fno-pie"], &["-O1", "-fPIE", "-pie"]] {
            folder.seqcst(compiler, &[&["cc", "dekker.c", "-o", "weak"], flags].concat()).ends(0);
            folder.finds_dekker("weak", &[]);
            folder
                .seqcst(compiler, &[&["cc", "-DFENCED", "dekker.c", "-o", "strong"], flags].concat())
                .ends(0);
            folder.run("strong", &[]).finds_nothing();
        }
    }
}

#[test]
fn without_a_name_it_is_a_out() {
    let folder = Folder::new("a.out").with("dekker.c", DEKKER);
    folder.seqcst("gcc", &["cc", "dekker.c"]).ends(0);
    folder.finds_dekker("a.out", &[]);
}

#[test]
fn objects_first() {
    let folder = Folder::new("objects").with("dekker.c", DEKKER);
    // Objects of all compilers fit together.
    for compiler in all_compilers() {
        folder.seqcst(compiler, &["cc", "-c", "-O1", "dekker.c", "-o", "dekker.o"]).ends(0);
        for linker in all_compilers() {
            folder.seqcst(linker, &["cc", "dekker.o", "-o", "dekker"]).ends(0);
            folder.finds_dekker("dekker", &[]);
        }
    }
}

#[test]
fn assembly_and_preprocessed_sources() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("stages-{compiler}")).with("dekker.c", DEKKER);
        folder.seqcst(compiler, &["cc", "-E", "dekker.c", "-o", "dekker.i"]).ends(0);
        folder.seqcst(compiler, &["cc", "-S", "-Werror", "dekker.i", "-o", "dekker.s"]).ends(0);
        folder.seqcst(compiler, &["cc", "-c", "-Werror", "dekker.s"]).ends(0);
        folder.seqcst(compiler, &["cc", "-Werror", "dekker.o", "-o", "dekker"]).ends(0);
        folder.finds_dekker("dekker", &[]);
        let dependencies = folder.seqcst(compiler, &["cc", "-MM", "dekker.c"]).ends(0);
        assert_eq!(dependencies.stdout(), "dekker.o: dekker.c\n");
    }
}

#[test]
fn response_files() {
    let folder = Folder::new("response").with("dekker.c", DEKKER).with("more", "-O1 \"dekker.c\"");
    let folder = folder.with("all", "@more -o 'in a file'");
    folder.seqcst("gcc", &["cc", "@all"]).ends(0);
    folder.finds_dekker("in a file", &[]);
}

#[test]
fn standard_input() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("stdin-{compiler}")).with("dekker.c", DEKKER);
        let script = "cat dekker.c | seqcst cc -x c - -o dekker";
        let mut command =
            folder.tool("sh", &["-c", &format!("SEQCST_CC={compiler}; export SEQCST_CC; {script}")]);
        command = command.ends(0);
        drop(command);
        eventually(|| folder.run("dekker", &[])).says("stale").ends(66);
    }
}

#[test]
fn link_time_optimisation() {
    for compiler in all_compilers() {
        let folder = Folder::new(&format!("lto-{compiler}")).with("dekker.c", DEKKER);
        folder.seqcst(compiler, &["cc", "-flto", "-O2", "-c", "dekker.c"]).ends(0);
        folder.seqcst(compiler, &["cc", "-flto", "-O2", "dekker.o", "-o", "dekker"]).ends(0);
        folder.finds_dekker("dekker", &[]);
    }
}

#[test]
fn questions_and_errors_are_the_compilers() {
    for compiler in compilers() {
        let folder =
            Folder::new(&format!("questions-{compiler}")).with("bad.c", "int main(void) { return x; }");
        for question in ["--version", "-dumpmachine", "-print-prog-name=ld"] {
            let plain = crate::Run::of(folder.command(compiler).arg(question)).ends(0);
            assert_eq!(folder.seqcst(compiler, &["cc", question]).ends(0).stdout(), plain.stdout());
        }
        let plain = crate::Run::of(folder.command(compiler).args(["-c", "bad.c"]));
        folder.seqcst(compiler, &["cc", "-c", "bad.c"]).says("bad.c:1").ends(plain.code().expect("a code"));
    }
}

#[test]
fn what_is_not_possible_is_said() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("refused-{compiler}")).with("dekker.c", DEKKER);
        let refused = |args: &[&str], why: &str| folder.seqcst(compiler, args).says(why).ends(2);
        refused(&["cc", "-static", "dekker.c"], "-static: static executables are not supported");
        refused(&["cc", "-fsanitize=address", "dekker.c"], "-fsanitize=address: that sanitizer");
        refused(&["cc", "-m32", "-c", "dekker.c"], "-m32: seqcst instruments programs for x86-64 Linux only");
        // Other sanitizers are no problem.
        folder.seqcst(compiler, &["cc", "-fsanitize=undefined", "-c", "dekker.c"]).ends(0);
    }
    let folder = Folder::new("refused").with("dekker.c", DEKKER);
    folder.seqcst("no-such-cc", &["cc", "-c", "dekker.c"]).says("SEQCST_CC names `no-such-cc`").ends(2);
    for own in [env!("CARGO_BIN_EXE_seqcst"), env!("CARGO_BIN_EXE_seqcst-cc")] {
        folder.seqcst(own, &["cc", "-c", "dekker.c"]).says("seqcst itself").ends(2);
    }
}

#[test]
fn atomics_only() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("atomics-{compiler}")).with("dekker.c", DEKKER);
        let compile =
            folder.seqcst(compiler, &["cc", "--seqcst-atomics-only", "-O1", "dekker.c", "-o", "dekker"]);
        if compiler == "gcc" {
            compile.says("gcc can't instrument atomics only").ends(2);
        } else {
            compile.ends(0);
            folder.finds_dekker("dekker", &[]);
        }
    }
}

#[test]
fn code_does_not_see_gccs_sanitizer() {
    let text = "#ifdef __SANITIZE_THREAD__\n#error \"seen\"\n#endif\nint main(void) { return 0; }\n";
    let folder = Folder::new("unseen").with("x.c", text);
    folder.seqcst("gcc", &["cc", "x.c", "-o", "x"]).ends(0);
    folder.run("x", &[]).finds_nothing();
}

#[test]
fn the_real_command_is_shown() {
    let folder = Folder::new("verbose").with("dekker.c", DEKKER);
    let shown = folder.seqcst("gcc", &["cc", "--seqcst-verbose", "-c", "dekker.c"]).ends(0);
    assert!(shown.stderr().starts_with("seqcst: gcc -fsanitize=thread "), "{}", shown.stderr());
    let folder = folder.with("plain.c", "int main(void) { return 0; }");
    let script = "SEQCST_NO_DEBUG=1 SEQCST_VERBOSE=1 SEQCST_CC=gcc seqcst-cc -c plain.c";
    let shown = folder.tool("sh", &["-c", script]).ends(0);
    assert!(!shown.stderr().contains(" -g "), "{}", shown.stderr());
}

#[test]
fn a_cache_that_can_not_be_written() {
    let folder = Folder::new("cache").with("dekker.c", DEKKER).with("file", "");
    let script = "SEQCST_CACHE=$PWD/file/in/a/file TMPDIR=$PWD/nowhere SEQCST_CC=gcc seqcst cc dekker.c";
    folder.tool("sh", &["-c", script]).says("no directory for the runtime").ends(2);
    let script = "SEQCST_CACHE=\"$PWD/with space\" SEQCST_CC=gcc seqcst cc dekker.c -o dekker";
    folder.tool("sh", &["-c", script]).ends(0);
    folder.finds_dekker("dekker", &[]);
}

//! The programs in `crates/runtime/tests/programs`, which try what stands in front of libc. Their first lines say what
//! must come of them.

use crate::{Folder, Run, compilers, cxx, is_installed};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/tests/programs").join(name)
}

/// Compiles a program with a compiler; gives the executable's name.
fn compile(folder: &Folder, compiler: &str, name: &str, flags: &[&str]) -> String {
    let source = source(name);
    let (command, standard) =
        if name.ends_with(".cpp") { ("c++", "-std=c++20") } else { ("cc", "-std=gnu17") };
    let output = format!("{}-{compiler}", name.replace('.', "-"));
    let all = [command, standard, "-O1", source.to_str().expect("UTF-8"), "-o", &output];
    folder.seqcst(compiler, &[&all, flags].concat()).ends(0);
    output
}

#[track_caller]
fn is_silent(names: &[&str]) {
    for compiler in compilers() {
        let folder = Folder::new(&format!("{}-{compiler}", names[0]));
        for name in names {
            let program = compile(&folder, compiler, name, &[]);
            folder.run(&program, &[]).finds_nothing();
        }
    }
}

#[test]
fn threads_and_locks() {
    is_silent(&["threads.c", "locks.c", "many.c", "foreign.c"]);
}

#[test]
fn memory_and_messages() {
    is_silent(&["memory.c", "strings.c", "messages.c"]);
}

#[test]
fn signals_and_jumps() {
    is_silent(&["signals.c", "jumps.c"]);
}

#[test]
fn annotations() {
    is_silent(&["annotations.c"]);
    // Without the runtime the header is all there is.
    let folder = Folder::new("annotations-plain");
    let include = source("../../include");
    let mut plain = folder.command("gcc");
    plain
        .args(["-x", "c++", "-I"])
        .arg(include)
        .arg(source("annotations.c"))
        .args(["-o", "plain", "-lstdc++"]);
    Run::of(&mut plain).ends(0);
    folder.run("plain", &[]).ends(0);
}

/// No file without a line, and no line 0.
#[test]
fn every_place_has_a_line() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("lines-{compiler}"));
        let program = compile(&folder, compiler, "lines.c", &[]);
        let run = folder.run(&program, &[]).says("#0 writes ").says("lines.c:10").ends(66);
        assert!(
            !run.stderr().contains("lines.c ") && !run.stderr().contains("lines.c:0"),
            "{}",
            run.stderr()
        );
    }
}

/// What is claimed is believed, and no more than that.
#[test]
fn claims_to_race_detectors() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("claims-{compiler}"));
        let program = compile(&folder, compiler, "claims.c", &[]);
        for claim in
            ["hb", "release", "rwlock", "mutex", "fiber", "benign", "new", "ignore-reads", "ignore-writes"]
        {
            folder.run(&program, &[claim]).finds_nothing();
            let run = folder.run(&program, &[&format!("not-{claim}")]).ends(66);
            assert_eq!(run.stderr().matches("WARNING: seqcst").count(), 1, "{claim}: {}", run.stderr());
        }
        // What synchronises isn't ignored, but it doesn't make up an order either.
        folder.run(&program, &["ignore-sync"]).says("data race").ends(66);
    }
}

#[test]
fn more_memory_than_there_is() {
    let folder = Folder::new("used-up");
    let program = compile(&folder, "gcc", "memory.c", &[]);
    let run = folder.run(&program, &["all"]);
    assert!([Some(0), Some(72)].contains(&run.code()), "{:?} {}", run.code(), run.stderr());
}

#[test]
fn processes() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("processes-{compiler}"));
        let program = compile(&folder, compiler, "processes.c", &[]);
        folder.run(&program, &[]).ends(0);
        folder.run(&program, &["race-and-exec"]).says("data race").ends(0);
    }
}

#[test]
fn a_library_that_comes_and_goes() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("library-{compiler}"));
        let library = compile(&folder, compiler, "library.c", &["-DLIBRARY", "-shared", "-fPIC"]);
        std::fs::rename(folder.path(&library), folder.path("library.so")).expect("a file");
        let program = compile(&folder, compiler, "library.c", &["-ldl"]);
        folder.run(&program, &["./library.so"]).finds_nothing();
    }
}

#[test]
fn races() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("races-{compiler}"));
        let program = compile(&folder, compiler, "races.c", &[]);
        folder.run(&program, &["none"]).finds_nothing();
        for race in ["plain", "memcpy", "memset", "strlen", "readers", "barrier", "free", "detached"] {
            let run = folder.run(&program, &[race]).ends(66);
            assert_eq!(run.stderr().matches("WARNING: seqcst").count(), 1, "{race}: {}", run.stderr());
        }
    }
}

/// Accesses in vectors as large as the processor has are seen.
#[test]
fn races_in_vectors() {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return;
    }
    for compiler in compilers() {
        let folder = Folder::new(&format!("vectors-{compiler}"));
        let program = compile(&folder, compiler, "vectors.c", &["-O3", "-mavx2"]);
        folder.run(&program, &[]).says("data race").ends(66);
    }
}

#[test]
fn stacks_after_jumps() {
    let folder = Folder::new("jumps");
    let program = compile(&folder, "gcc", "jumps.c", &[]);
    // A known limit (docs/sanitizer.md): frames that a coroutine left behind are still shown below these.
    folder.run(&program, &["race"]).says("#0 racing ").says("#1 main ").ends(66);
}

#[test]
fn ways_to_end() {
    let by_code =
        ["return", "exit", "_exit", "_Exit", "quick_exit", "zero", "pthread_exit", "handled", "ignored"];
    let by_signal = [
        ("abort", 6),
        ("raise", 8),
        ("segv", 11),
        ("atomic", 11),
        ("memcpy", 11),
        ("bus", 7),
        ("overflow", 11),
        ("overflow-in-thread", 11),
        ("handled-and-restored", 11),
    ];
    for compiler in compilers() {
        let folder = Folder::new(&format!("ends-{compiler}"));
        let program = compile(&folder, compiler, "ends.c", &[]);
        let summaries = |run: &Run| run.stderr().matches("seqcst: 1 data race").count();
        for how in by_code {
            let run = folder.run(&program, &[how]).ends(66);
            assert_eq!(summaries(&run), 1, "{compiler} {how}: {}", run.stderr());
        }
        for (how, signal) in by_signal {
            let run = folder.run(&program, &[how]);
            assert_eq!(run.output.status.signal(), Some(signal), "{compiler} {how}: {}", run.stderr());
            assert_eq!(summaries(&run), 1, "{compiler} {how}: {}", run.stderr());
            let quiet = folder.run(&program, &[how, "no race"]);
            assert_eq!(quiet.output.status.signal(), Some(signal), "{compiler} {how}: {}", quiet.stderr());
        }
        folder.run(&program, &["return", "no race"]).ends(3);
        folder.run(&program, &["handled", "no race"]).ends(7);
    }
}

#[test]
fn cxx_programs() {
    for compiler in compilers().into_iter().filter(|compiler| is_installed(&cxx(compiler))) {
        let folder = Folder::new(&format!("cpp-{compiler}"));
        let program = compile(&folder, compiler, "cpp.cpp", &[]);
        folder.run(&program, &[]).finds_nothing();
        let program = compile(&folder, compiler, "cpp20.cpp", &[]);
        let run = folder.run(&program, &[]);
        assert!(!run.stderr().contains("data race"), "{}", run.stderr());
    }
}

#[test]
fn rusts_standard_library() {
    let manifest = "[package]\nname = \"standard\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let text = std::fs::read(source("std.rs")).expect("a program");
    let folder = Folder::new("std").with("Cargo.toml", manifest).with("src/main.rs", text);
    for release in [&[][..], &["--release"]] {
        crate::rust::cargo(&folder, &[], &[&["run"], release].concat()).finds_nothing();
    }
}

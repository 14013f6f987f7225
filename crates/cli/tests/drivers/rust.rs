//! `cargo seqcst`, on a small workspace that needs nothing from a registry.

use crate::{Folder, Run, eventually, needs};

/// A program with a build script that compiles C, a procedural macro, a library with tests and an example in its
/// documentation.
fn project(test: &str) -> Folder {
    let manifest = |name: &str, rest: &str| {
        let lints = "[lints.rust]\nunexpected_cfgs = \"allow\"";
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}\n{lints}\n")
    };
    let macros = "\
#[cfg(seqcst)]
compile_error!(\"procedural macros are not instrumented\");
use proc_macro::TokenStream;
#[proc_macro]
pub fn answer(_: TokenStream) -> TokenStream { \"42\".parse().unwrap() }
";
    let build = "\
#[cfg(seqcst)]
compile_error!(\"build scripts are not instrumented\");
use std::{env, path::Path, process::Command};
fn main() {
    let out = env::var(\"OUT_DIR\").unwrap();
    let object = Path::new(&out).join(\"counter.o\");
    let cc = env::var(\"CC_x86_64_unknown_linux_gnu\").unwrap_or_else(|_| \"cc\".into());
    assert!(Command::new(cc).args([\"-c\", \"-O1\", \"counter.c\", \"-o\"]).arg(&object).status().unwrap().success());
    let library = Path::new(&out).join(\"libcounter.a\");
    assert!(Command::new(\"ar\").arg(\"rcs\").arg(library).arg(object).status().unwrap().success());
    println!(\"cargo::rustc-link-search={out}\\ncargo::rustc-link-lib=static=counter\");
}
";
    let library = "\
//! Store buffering.
use std::sync::atomic::{fence, AtomicU32, Ordering::{Relaxed, SeqCst}};
extern \"C\" { fn counter() -> i32; }
/// C code.
pub fn count() -> i32 { unsafe { counter() } }
/// Both threads may miss the other's store, unless there are fences.
///
/// ```
/// assert!(app::dekker(true));
/// ```
pub fn dekker(fenced: bool) -> bool {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let side = |own: &AtomicU32, other: &AtomicU32| {
        own.store(1, Relaxed); // line 14
        if fenced { fence(SeqCst); }
        other.load(Relaxed) // line 16
    };
    let (a, b) = std::thread::scope(|s| {
        let one = s.spawn(|| side(&x, &y));
        let two = s.spawn(|| side(&y, &x));
        (one.join().unwrap(), two.join().unwrap())
    });
    a + b > 0
}
#[test]
fn strong() { assert!(dekker(true)); }
#[test]
#[should_panic(expected = \"through\")]
fn unwinding() { std::thread::scope(|s| s.spawn(|| panic!(\"through\")).join().unwrap_or_else(|_| panic!(\"through\"))) }
#[cfg(feature = \"weak\")]
#[test]
fn weak() { dekker(false); }
";
    let main = "\
fn main() {
    assert_eq!(macros::answer!(), 42);
    assert_eq!(app::count(), 200);
    let caught = std::panic::catch_unwind(|| panic!(\"caught\"));
    assert!(caught.is_err());
    app::dekker(std::env::args().nth(1).as_deref() == Some(\"strong\"));
}
";
    let counter = "\
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *work(void *p) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int counter(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return count;
}
";
    let app = "[features]\nweak = []\n[dependencies]\nmacros = { path = \"../macros\" }\n[lib]\ncrate-type = [\"rlib\", \"cdylib\"]";
    let release = "[profile.release]\nlto = \"fat\"\nstrip = true\npanic = \"unwind\"\n";
    let folder = Folder::new(test)
        .with(
            "Cargo.toml",
            format!("[workspace]\nmembers = [\"app\", \"macros\"]\nresolver = \"2\"\n{release}"),
        )
        .with("macros/Cargo.toml", manifest("macros", "[lib]\nproc-macro = true"))
        .with("macros/src/lib.rs", macros);
    folder
        .with("app/Cargo.toml", manifest("app", app))
        .with("app/build.rs", build)
        .with("app/counter.c", counter)
        .with("app/src/lib.rs", library)
        .with("app/src/main.rs", main)
}

/// `cargo seqcst ARGS…`, with variables.
pub fn cargo(folder: &Folder, variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = folder.command(env!("CARGO_BIN_EXE_cargo-seqcst"));
    // The tests' own cargo has settings for them.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && !["CARGO_HOME"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.envs(variables.iter().copied()).env("CARGO_NET_OFFLINE", "true").arg("seqcst").args(args);
    Run::of(&mut command)
}

#[test]
fn runs() {
    let folder = project("cargo-run");
    cargo(&folder, &[], &["run", "--", "strong"]).finds_nothing();
    let run = eventually(|| cargo(&folder, &[], &["run"])).says("stale").says("lib.rs:16").says("lib.rs:14");
    assert!(!run.stderr().contains("data race"), "{}", run.stderr());
    assert_eq!(run.code(), Some(66));
    assert!(folder.path("target/seqcst/x86_64-unknown-linux-gnu/debug/app").is_file());
    // Link-time optimisation and stripping are switched off, as the report needs.
    eventually(|| cargo(&folder, &[], &["run", "--release"])).says("lib.rs:16").ends(66);
    cargo(&folder, &[], &["run", "--release", "--", "strong"]).finds_nothing();
    eventually(|| cargo(&folder, &[], &["--atomics-only", "run", "--release"])).says("stale").ends(66);
}

#[test]
fn tests() {
    let folder = project("cargo-test");
    let run = cargo(&folder, &[], &["test", "--workspace"]).finds_nothing();
    assert!(run.stdout().contains("test strong ... ok"), "{}", run.stdout());
    assert!(
        run.stdout().contains("Doc-tests app") || run.stderr().contains("Doc-tests app"),
        "{}",
        run.stdout()
    );
    let run = eventually(|| cargo(&folder, &[], &["test", "--features", "app/weak"]));
    let run = run.says("stale").says("lib.rs:16");
    assert_ne!(run.code(), Some(0));
    if needs("cargo-nextest") {
        cargo(&folder, &[], &["nextest", "run"]).finds_nothing();
    }
}

#[test]
fn settings_of_the_user_stay_in_force() {
    let folder =
        project("cargo-flags").with("app/src/main.rs", "fn main() { assert!(cfg!(from_the_user)); }\n");
    cargo(&folder, &[], &["run"]).says("assertion failed").ends(101);
    cargo(&folder, &[("RUSTFLAGS", "--cfg from_the_user")], &["run"]).finds_nothing();
    cargo(&folder, &[("CARGO_BUILD_RUSTFLAGS", "--cfg from_the_user")], &["run"]).finds_nothing();
    let folder = folder.with(".cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"from_the_user\"]\n");
    cargo(&folder, &[], &["run"]).finds_nothing();
    // The linker of the user does the linking.
    let linker = "#!/bin/sh\ntouch linked\nexec cc \"$@\"\n";
    let target = "[target.x86_64-unknown-linux-gnu]\nlinker = \"./linker\"\nrustflags = [\"--cfg\", \"from_the_user\"]\n";
    let folder = folder.with("linker", linker).with(".cargo/config.toml", target);
    Run::of(folder.command("chmod").args(["+x", "linker"])).ends(0);
    cargo(&folder, &[], &["run"]).finds_nothing();
    assert!(folder.path("linked").is_file());
}

#[test]
fn what_is_not_possible_is_said() {
    let folder = project("cargo-refused");
    cargo(&folder, &[], &["build", "--target", "wasm32-wasip1"])
        .says("x86_64-unknown-linux-gnu only")
        .ends(2);
    cargo(&folder, &[], &["--release", "test"]).says("stand after its command").ends(2);
    let help = cargo(&folder, &[], &["--help"]).ends(0);
    assert!(help.stdout().contains("cargo seqcst test"), "{}", help.stdout());
    let empty = Folder::new("cargo-empty");
    cargo(&empty, &[], &["build"]).says("could not find `Cargo.toml`").ends(2);
}

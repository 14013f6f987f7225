//! Builds the runtime that `seqcst cc` and `cargo seqcst` link into programs, so that the tool can carry it along.
//!
//! A nested cargo compiles `crates/runtime` into a static library (its own target directory: the outer cargo holds the
//! lock of the other one), and [`object`] turns that into one relocatable object, `runtime.o`, with the list of the
//! names it exports, `runtime.list`. They land in `OUT_DIR`; `src/compile/runtime.rs` includes them.

mod object;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The crates that the runtime is made of.
const SOURCES: [&str; 4] = ["crates/runtime", "crates/monitor", "crates/model", "crates/explore"];

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("cannot build the runtime of the sanitizer: {message}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let variable = |name: &str| env::var(name).map_err(|_| format!("{name} is not set: is this cargo?"));
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = here.ancestors().nth(2).ok_or("no workspace around crates/cli")?;
    let out = PathBuf::from(variable("OUT_DIR")?);
    for source in SOURCES.into_iter().chain(["Cargo.toml", "Cargo.lock"]) {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    println!("cargo::rerun-if-changed={}", here.join("build").display());
    if variable("TARGET")? != "x86_64-unknown-linux-gnu" {
        // Empty files: the commands that need them say that they exist for x86-64 Linux only.
        let write = |name: &str| fs::write(out.join(name), "").map_err(|error| format!("{name}: {error}"));
        ["runtime.o", "runtime.list", "empty.o"].into_iter().try_for_each(write)?;
    } else {
        let library = static_library(root, &out)?;
        object::make(&library, &out)?;
    }
    println!("cargo::rustc-env=SEQCST_RUNTIME_HASH={}", hash(root, &out)?);
    Ok(())
}

/// A name for this version of the runtime, made of its contents (FNV-1a).
fn hash(root: &Path, out: &Path) -> Result<String, String> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let files =
        [out.join("runtime.o"), out.join("runtime.list"), root.join("crates/runtime/include/seqcst.h")];
    for file in files {
        let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        hash = bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }
    Ok(format!("{hash:016x}"))
}

/// Compiles `crates/runtime` as a static library: in the same way whatever the outer profile is, so that all profiles share it.
fn static_library(root: &Path, out: &Path) -> Result<PathBuf, String> {
    // The target directory, from its PROFILE/build/PACKAGE/out.
    let target = out.ancestors().nth(4).unwrap_or(out).join("runtime");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    for (name, _) in env::vars_os() {
        if name.to_str().is_none_or(is_of_the_outer_build) {
            command.env_remove(name);
        }
    }
    // Empty is not the same as absent: it also hides the flags in cargo's configuration files.
    command.env("CARGO_ENCODED_RUSTFLAGS", "").current_dir(root);
    command.args(["rustc", "--quiet", "--locked", "--package", "seqcst-runtime", "--lib", "--release"]);
    command.args(["--crate-type", "staticlib", "--features", "object", "--target-dir"]).arg(&target);
    // One unit, with what it needs of std optimised into it; nothing in it ever unwinds. Other people's crates are
    // there for reports: small is better than fast.
    let settings = ["panic='abort'", "codegen-units=1", "opt-level=3", "lto='fat'", "debug=false"];
    for setting in settings.into_iter().chain(["package.'*'.opt-level='s'"]) {
        command.args(["--config", &format!("profile.release.{setting}")]);
    }
    // It only ever becomes part of executables, never of shared libraries: thread-locals at fixed offsets.
    command.args(["--", "-Crelocation-model=pie"]);
    object::run(&mut command)?;
    Ok(target.join("release/libseqcst_runtime.a"))
}

/// Whether a variable carries settings of the outer build which must not reach the runtime.
fn is_of_the_outer_build(name: &str) -> bool {
    let kept = ["CARGO_HOME", "CARGO_MAKEFLAGS"].contains(&name)
        || ["CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR"].iter().any(|prefix| name.starts_with(prefix));
    let outer = ["CARGO_", "DEP_"].iter().any(|prefix| name.starts_with(prefix))
        || [
            "RUSTFLAGS",
            "RUSTDOCFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "TARGET",
            "HOST",
            "PROFILE",
            "DEBUG",
            "OPT_LEVEL",
        ]
        .contains(&name);
    outer && !kept
}

//! What tests of the front end share: the compilers, if they are there.

#![allow(dead_code)]

pub mod piece;
pub mod repair;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether a program of LLVM is installed; a message if not.
pub fn tool(name: &str) -> bool {
    let found =
        Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: {name} is not installed (`cargo xtask setup` brings it)");
    }
    found
}

/// Where tests put files: each its own.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    folder.join(name)
}

/// Compiles a source of `tests/sources` to LLVM IR.
pub fn compile(compiler: &str, source: &str, language: &str, flags: &[&str]) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources").join(source);
    let out = scratch(&format!("{source}-{compiler}{}.ll", flags.concat()).replace('/', "_"));
    let status = Command::new(compiler)
        .args(["-x", language, "-w", "-S", "-emit-llvm", "-o"])
        .arg(&out)
        .args(flags)
        .arg(&path)
        .status()
        .expect("the compiler runs");
    assert!(status.success(), "{compiler} {source}");
    out
}

//! Functions of Rust's standard library that synchronise out of sight, and how they are watched.
//!
//! The standard library comes compiled and without instrumentation. What is inlined into the program is seen; the slow
//! paths of locks are not, and a lock that changes hands unseen would make for spurious reports. So every call of one
//! goes through a few instructions (the linker's `--wrap`) that tell the runtime before and after: [`stubs`]. Names carry
//! a hash of the toolchain, so they are looked up in its library.

/// The instructions, and the functions they are for: a file of the runtime, which knows what they mean.
#[allow(dead_code, rustdoc::broken_intra_doc_links)]
#[path = "../../../runtime/src/interpose/stubs.rs"]
mod stubs;

use super::TARGET;
use crate::compile::arguments::Stage;
use crate::compile::runtime::{self, Files};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes what the linker needs for the current toolchain, unless it is there; gives the directory it is in.
pub fn prepare(files: &Files) -> Result<PathBuf, String> {
    let version = rustc(&["-vV"])?;
    let library = standard_library()?;
    let name = runtime::hash(&[version.as_bytes(), library.as_os_str().as_encoded_bytes()]);
    let folder = files.folder.join(format!("std-{name}"));
    if folder.is_dir() {
        return Ok(folder);
    }
    let bad = |why: &str| format!("{}: {why}", library.display());
    let data = std::fs::read(&library).map_err(|error| bad(&error.to_string()))?;
    let names = names(&data).ok_or_else(|| bad("not a library that can be read"))?;
    let stubs = stubs::stubs(names.iter().map(String::as_str));
    if !stubs.wrapped.iter().any(|name| name.contains("lock_contended")) {
        return Err(bad(
            "the locks in it can't be watched, so reports would be spurious; try another toolchain",
        ));
    }
    runtime::make_folder(&folder, |beside| write(beside, &stubs))?;
    Ok(folder)
}

/// Flags for the linker.
pub fn flags(folder: &Path, stage: Stage) -> Result<Vec<OsString>, String> {
    if !matches!(stage, Stage::Executable | Stage::Shared) {
        return Ok(Vec::new());
    }
    let list = folder.join("wrapped");
    let list = std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let wrapped = list.lines().map(|name| OsString::from(format!("--wrap={name}")));
    let all = std::iter::once(folder.join("stubs.o").into()).chain(wrapped);
    Ok(all.flat_map(|word| [OsString::from("-Xlinker"), word]).collect())
}

/// The functions that a library defines.
fn names(library: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let archive = ArchiveFile::parse(library).ok()?;
    for member in archive.members() {
        let data = member.ok()?.data(library).ok()?;
        // Not every member is an object.
        let Ok(object) = object::File::parse(data) else { continue };
        let global = object.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
        names.extend(global.filter_map(|symbol| symbol.name().ok().map(str::to_owned)));
    }
    names.sort();
    Some(names)
}

/// Writes and assembles the stubs.
fn write(folder: &Path, stubs: &stubs::Stubs) -> Result<(), String> {
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<PathBuf, String>(path)
    };
    file("wrapped", &stubs.wrapped.join("\n"))?;
    let source = file("stubs.s", &stubs.assembly)?;
    let output = Command::new("cc").arg("-c").arg(source).arg("-o").arg(folder.join("stubs.o")).output();
    let output = output.map_err(|error| format!("cc (needed to assemble a few lines): {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// The file of the standard library for our target.
fn standard_library() -> Result<PathBuf, String> {
    let folder = PathBuf::from(rustc(&["--print", "target-libdir", "--target", TARGET])?.trim());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    };
    let mut paths = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let library = paths.find(is_library);
    library.ok_or_else(|| {
        format!("no standard library in {}: try `rustup target add {TARGET}`", folder.display())
    })
}

/// What the compiler in use answers.
fn rustc(args: &[&str]) -> Result<String, String> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(program).args(args).output().map_err(|error| format!("rustc: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stubs::Kind::{Barrier, Condvar, OnceCall, Park, ParkHandle, Scope, Word};

    #[test]
    fn this_toolchain_has_all_of_them() {
        let Ok(library) = standard_library() else { return };
        let names = names(&std::fs::read(library).expect("a file")).expect("a library");
        let kinds: Vec<_> = names.iter().filter_map(|name| stubs::kind(name)).collect();
        for kind in [Word, Condvar, OnceCall, Barrier, ParkHandle, Park, Scope] {
            assert!(kinds.contains(&kind), "{kind:?}");
        }
    }
}

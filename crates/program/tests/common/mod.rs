//! What several tests need: the programs to run on.
#![allow(dead_code, missing_docs)]

use expect_test::Expect;
use seqcst_program::{InputError, line_column, parse};
use std::path::{Path, PathBuf};

/// The workspace's folder.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the crate lies in the workspace")
}

/// Every program below the folder, in a fixed order.
pub fn programs_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "tpl" || e == "litmus") {
                let source = std::fs::read(&path).expect("a readable program");
                found.push((path, source));
            }
        }
    }
    found.sort();
    found
}

/// The programs of this crate's tests, and of the project's corpus.
pub fn all_programs() -> Vec<(PathBuf, Vec<u8>)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let folders = [tests, workspace().join("corpus")];
    folders.iter().flat_map(|folder| programs_below(folder)).collect()
}

/// The error as a compiler would print it, plainly.
fn describe(source: &[u8], error: &InputError) -> String {
    let (line, column) = error.line_column(source);
    let mut text = format!("{line}:{column}: {}\n", error.message());
    let span = error.span();
    if let Ok(source) = std::str::from_utf8(source) {
        text += &format!("  at {:?}\n", &source[span.range()]);
    }
    if let Some((span, label)) = error.secondary() {
        let (line, column) = line_column(source, span.start);
        text += &format!("  {line}:{column}: {label}\n");
    }
    if let Some(note) = error.note() {
        text += &format!("  note: {note}\n");
    }
    text
}

/// Parses all the sources and compares the list of messages.
pub fn all_fail(name: &str, sources: &[Vec<u8>], expected: Expect) {
    let describe = |source: &Vec<u8>| match parse(source, name) {
        Err(error) => describe(source, &error),
        Ok(_) => format!("accepted: {}\n", String::from_utf8_lossy(source)),
    };
    expected.assert_eq(&sources.iter().map(describe).collect::<String>());
}

//! The libraries of the corpus.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;
use seqcst_c11::Options;

/// Libraries (and clients) with their names.
fn files(is_client: bool) -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/library");
    let mut found = Vec::new();
    for folder in [root.clone(), root.join("compose")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".c") && name.starts_with("client") == is_client {
                found.push((name, path));
            }
        }
    }
    found.sort();
    found
}

/// What is read from every library is written in `snapshots/` (`UPDATE_EXPECT=1` writes it anew).
#[test]
fn snapshots() {
    let files = files(false);
    assert!(files.len() >= 20, "{}", files.len());
    for (name, path) in files {
        let text = fs::read(&path).unwrap();
        let library = seqcst_c11::read(&name, &text, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        expect_file![format!("snapshots/{}.txt", name.trim_end_matches(".c"))]
            .assert_eq(&library.to_string());
    }
}

/// Every library says what to expect of it, and is C that compilers take without a warning.
#[test]
fn files_are_good_c() {
    let out = std::env::temp_dir().join(format!("seqcst-library-corpus-{}.o", std::process::id()));
    for (name, path) in files(false).into_iter().chain(files(true)) {
        let compiler = Command::new("cc")
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-c", "-o"])
            .arg(&out)
            .arg(&path)
            .output();
        let compiler = compiler.unwrap();
        assert!(compiler.status.success(), "{name}: {}", String::from_utf8_lossy(&compiler.stderr));
        let text = fs::read_to_string(&path).unwrap();
        let has_verdict = ["robust", "not-robust", "unproved"]
            .iter()
            .any(|v| text.contains(&format!("//@ verdict: {v}\n")));
        assert!(has_verdict || name.starts_with("client"), "{name}");
    }
    fs::remove_file(out).unwrap();
}

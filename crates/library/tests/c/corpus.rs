//! The libraries of the corpus can be read.

use std::fs;
use std::path::PathBuf;

use seqcst_library::c::{self, Options};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/library")
}

#[test]
fn every_library_is_read() {
    let mut count = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "c") || path.to_string_lossy().contains("client") {
            continue;
        }
        let text = fs::read(&path).unwrap();
        let library =
            c::read(&path.to_string_lossy(), &text, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        if std::env::var_os("SHOW").is_some() {
            println!("==== {}\n{library}", path.display());
        }
        count += 1;
    }
    assert!(count >= 2);
}

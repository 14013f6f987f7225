//! Documents that describe the tree agree with it: the dependency graph in ARCHITECTURE.md, paths, citations and
//! sections that are named.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// For each crate, by its folder: the crates of this workspace that it depends on.
type Graph = BTreeMap<String, BTreeSet<String>>;

const DOCUMENTS: [&str; 4] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/papers.md", "docs/theory.md"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The dependencies in this section of all manifests; crates without any are left out.
fn manifests(section: &str) -> Graph {
    let crates = fs::read_dir(root().join("crates")).expect("crates/");
    let folders = crates.map(|entry| entry.expect("crates/").path()).chain([root().join("xtask")]);
    let manifest = |folder: PathBuf| {
        let manifest: toml::Table = read(folder.join("Cargo.toml")).parse().expect("a manifest");
        (folder.file_name().expect("a name").to_string_lossy().into_owned(), manifest)
    };
    let manifests: Vec<(String, toml::Table)> = folders.map(manifest).collect();
    let package = |manifest: &toml::Table| manifest["package"]["name"].as_str().expect("a name").to_owned();
    let folder_of: BTreeMap<String, String> =
        manifests.iter().map(|(folder, manifest)| (package(manifest), folder.clone())).collect();
    let ours = |manifest: &toml::Table| -> BTreeSet<String> {
        let section = manifest.get(section).and_then(toml::Value::as_table);
        section
            .into_iter()
            .flat_map(|table| table.keys())
            .filter_map(|name| folder_of.get(name).cloned())
            .collect()
    };
    let graph = manifests.iter().map(|(folder, manifest)| (folder.clone(), ours(manifest)));
    graph.filter(|(_, dependencies)| !dependencies.is_empty()).collect()
}

/// The fenced block of that name in ARCHITECTURE.md, and all crates in it.
fn documented(block: &str) -> (Graph, BTreeSet<String>) {
    let text = read("ARCHITECTURE.md");
    let start = format!("\n```{block}\n");
    let (_, rest) = text.split_once(&start).unwrap_or_else(|| panic!("no block `{block}`"));
    let (lines, _) = rest.split_once("\n```").expect("the block ends");
    let parse = |line: &str| {
        let (name, list) = line.split_once("->").unwrap_or_else(|| panic!("no arrow in `{line}`"));
        let list = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        (name.trim().to_owned(), list.map(str::to_owned).collect::<BTreeSet<String>>())
    };
    let graph: Graph = lines.lines().map(parse).collect();
    let all = graph.keys().cloned().collect();
    (graph.into_iter().filter(|(_, dependencies)| !dependencies.is_empty()).collect(), all)
}

#[test]
fn the_dependency_graph_is_that_of_the_manifests() {
    let (graph, crates) = documented("dependencies");
    assert_eq!(graph, manifests("dependencies"), "left: ARCHITECTURE.md, right: manifests");
    let folders = fs::read_dir(root().join("crates")).expect("crates/");
    let folders = folders.map(|entry| entry.expect("crates/").file_name().to_string_lossy().into_owned());
    assert_eq!(
        crates,
        folders.chain(["xtask".to_owned()]).collect(),
        "left: ARCHITECTURE.md, right: folders"
    );
    assert_eq!(documented("dev-dependencies").0, manifests("dev-dependencies"), "for tests");
}

/// Pieces of text between two marks that are on one line.
fn quoted<'a>(text: &'a str, open: &'a str, close: char) -> impl Iterator<Item = &'a str> {
    text.lines()
        .flat_map(move |line| line.split(open).skip(1))
        .filter_map(move |rest| Some(rest.split_once(close)?.0))
}

/// Whole paths must be there; of `name.rs`, which follows a path to the same folder, some file of that name.
#[test]
fn paths_in_documents_exist() {
    let tops = ["crates/", "xtask/", "corpus/", "docs/", "fuzz/"];
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let exists = |path: &str| match tops.iter().any(|top| path.starts_with(top)) {
        true => path.contains(' ') || root().join(path).exists(),
        false => !path.ends_with(".rs") || files.iter().any(|(file, _)| file.ends_with(path)),
    };
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let text = read(document);
        let words = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        missing.extend(words.filter(|word| !exists(word)).map(|path| format!("{document}: {path}")));
    }
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

/// The text of all Rust files below a folder.
fn sources(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = read(&path);
            into.push((path, text));
        }
    }
}

#[test]
fn citations_and_sections_in_comments_are_there() {
    let (papers, theory) = (read("docs/papers.md"), read("docs/theory.md"));
    let is_key = |text: &&str| {
        let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_name =
            letters.starts_with(|c: char| c.is_ascii_uppercase()) && letters.chars().all(char::is_alphabetic);
        is_name && letters.len() >= 3 && text.len() == letters.len() + 2
    };
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut missing = Vec::new();
    for (path, text) in &files {
        let comments: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("//")).collect();
        let text = comments.join("\n");
        let unknown =
            quoted(&text, "[", ']').filter(is_key).filter(|key| !papers.contains(&format!("**[{key}]**")));
        missing.extend(unknown.map(|key| format!("{}: [{key}]", path.display())));
        let named = quoted(&text, "docs/theory.md`, \"", '"');
        let unknown =
            named.filter(|title| !theory.lines().any(|line| line.trim_start_matches('#').trim() == *title));
        missing.extend(unknown.map(|title| format!("{}: section {title}", path.display())));
    }
    assert!(missing.is_empty(), "not in docs/papers.md or docs/theory.md:\n{}", missing.join("\n"));
}

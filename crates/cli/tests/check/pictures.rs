//! `--svg` and `--dot`: whole files or none.

use crate::{Folder, MP, SB, exists};

#[test]
fn written_beside_the_answer() {
    let folder = Folder::new("written").with("sb.tpl", SB);
    let plain = folder.seqcst(&["check", "--format", "json", "sb.tpl"]);
    let run = folder.seqcst(&["check", "--format", "json", "--svg", "a.svg", "--dot", "b.dot", "sb.tpl"]);
    assert_eq!((run.code(), run.stderr().as_str()), (1, ""));
    assert_eq!(run.json()[0]["witness"], plain.json()[0]["witness"]);
    assert_eq!(folder.names(), ["a.svg", "b.dot", "sb.tpl"]);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).expect("a picture");
    assert!(read("a.svg").starts_with("<svg") && read("a.svg").trim_end().ends_with("</svg>"));
    assert!(read("b.dot").starts_with("digraph") && read("b.dot").trim_end().ends_with('}'));
}

#[test]
fn an_old_picture_is_replaced() {
    let folder = Folder::new("replaced").with("sb.tpl", SB).with("a.svg", "old");
    assert_eq!(folder.seqcst(&["check", "--svg", "a.svg", "sb.tpl"]).code(), 1);
    assert!(std::fs::read_to_string(folder.path("a.svg")).is_ok_and(|text| text.starts_with("<svg")));
    assert_eq!(folder.names(), ["a.svg", "sb.tpl"]);
}

#[test]
fn nothing_to_draw() {
    let folder = Folder::new("nothing").with("mp.tpl", MP).with("bad.tpl", "global");
    let run = folder.seqcst(&["check", "--svg", "a.svg", "mp.tpl"]);
    assert_eq!((run.code(), exists(&folder.path("a.svg"))), (0, false));
    assert_eq!(run.stderr(), "a.svg: note: not written, there is no witness to draw\n");
    assert_eq!(folder.seqcst(&["check", "--format", "json", "--svg", "a.svg", "mp.tpl"]).stderr(), "");
    assert_eq!(folder.seqcst(&["check", "--svg", "a.svg", "bad.tpl"]).code(), 2);
    assert!(!exists(&folder.path("a.svg")));
}

#[test]
fn places_that_cannot_be_written() {
    let folder = Folder::new("places").with("sb.tpl", SB).with("mp.tpl", MP);
    std::fs::create_dir(folder.path("dir")).expect("a directory");
    for args in [
        &["check", "--svg", "none/a.svg", "sb.tpl"][..],
        &["check", "--svg", "dir", "sb.tpl"],
        &["check", "--dot", "sb.tpl", "sb.tpl"],
        &["check", "--dot", "./sb.tpl", "sb.tpl"],
        &["check", "--svg", "a.svg", "--dot", "./a.svg", "sb.tpl"],
        &["check", "--svg", "a.svg", "sb.tpl", "mp.tpl"],
        &["check", "--svg", "/dev/null", "sb.tpl"],
    ] {
        let run = folder.seqcst(args);
        assert_eq!((run.code(), run.stdout().as_str()), (2, ""), "{args:?}");
        assert!(run.stderr().contains("error: "), "{args:?}: {}", run.stderr());
    }
    assert_eq!(folder.names(), ["dir", "mp.tpl", "sb.tpl"]);
    assert_eq!(std::fs::read_to_string(folder.path("sb.tpl")).ok().as_deref(), Some(SB));
}

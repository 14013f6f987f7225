//! Tapes: replayed, shortened, refused.

use crate::{Folder, root};

#[test]
fn from_a_file() {
    let folder = Folder::new("tape").with("tape", "0x2,\n1x2\n").with("bad", "0x2,one");
    let sb = root().join("corpus/litmus/sb.tpl").display().to_string();
    assert_eq!(folder.answer(&["--replay", "@tape", &sb])["verdict"], "not-robust");
    let run = folder.explore(&["--replay", "@bad", &sb]);
    assert!(run.code() == 2 && run.stderr().contains("`one`"), "{}", run.stderr());
    let run = folder.explore(&["--replay", "@nothing", &sb]);
    assert!(run.code() == 2 && run.stderr().contains("nothing"), "{}", run.stderr());
}

/// A schedule in which nothing goes wrong is shown as well.
#[test]
fn good_schedules() {
    let folder = Folder::new("good");
    let program = folder.corpus("small/sb-fences.c");
    let run = folder.explore(&["--replay", "0x3,1x3", &program]);
    assert_eq!(run.code(), 0, "{}{}", run.stdout(), run.stderr());
    assert!(
        run.stdout().starts_with("nothing found: ") && run.stdout().contains("creates thread 1"),
        "{}",
        run.stdout()
    );
}

#[test]
fn tapes_of_other_programs() {
    let folder = Folder::new("misfit");
    let program = folder.corpus("small/sb.c");
    let sb = root().join("corpus/litmus/sb.tpl").display().to_string();
    for (tape, program) in [("7", &*program), ("0x2,5", &program), ("0,9", &sb), ("0x9", &sb)] {
        let run = folder.explore(&["--replay", tape, program]);
        assert!(run.code() == 2 && run.stdout().is_empty(), "{tape}: {}{}", run.stdout(), run.stderr());
        assert!(run.stderr().contains("the tape doesn't fit"), "{tape}: {}", run.stderr());
    }
}

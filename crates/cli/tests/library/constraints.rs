//! What can be switched off.

use super::{library, text};

#[test]
fn constraints_are_known_by_name() {
    let out = library(&["--disable", "magic", "register.c"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        text(&out.stderr).starts_with("error: there is no constraint `magic`; there are fresh-records, ")
    );
    let out = library(&["--disable", "fresh-records", "--no-try", "register.c"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stdout));
}

//! A chore on a machine that lacks something: it says what, and how to get it, before it does anything.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What installs programs: hidden with them, as these tests must not change the machine.
const INSTALLERS: [&str; 4] = ["apt-get", "sudo", "rustup", "cargo-install"];

/// A directory with all commands of this machine but these.
fn without(hidden: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("without-{}", hidden.join("-")));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("can be made");
    let path = std::env::var_os("PATH").expect("there is one");
    for entry in std::env::split_paths(&path).filter_map(|place| fs::read_dir(place).ok()).flatten().flatten()
    {
        let name = entry.file_name();
        let name_as_text = name.to_string_lossy();
        if !hidden.contains(&&*name_as_text) && !INSTALLERS.contains(&&*name_as_text) {
            // The first one counts.
            let _ = symlink(entry.path(), folder.join(&name));
        }
    }
    folder
}

/// What a chore says when some commands are hidden; it must fail.
fn refused(chore: &[&str], hidden: &[&str]) -> String {
    let folder = without(hidden);
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    // An empty target directory would show that something was built.
    let target = folder.join("target");
    let out = command.args(chore).env("PATH", &folder).env("CARGO_TARGET_DIR", &target).output();
    let out = out.expect("xtask runs");
    assert!(!out.status.success(), "{chore:?} without {hidden:?}");
    assert!(!target.exists(), "{chore:?} began without {hidden:?}");
    let _ = fs::remove_dir_all(&folder);
    String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned()
}

#[test]
fn what_is_missing_is_named_before_the_work_begins() {
    let cases: [(&[&str], &[&str], &str); 10] = [
        (&["demo"], &["z3"], "z3: apt-get install z3"),
        (&["test"], &["objcopy"], "objcopy: apt-get install binutils"),
        (&["bench", "check"], &["gcc"], "gcc: apt-get install gcc libc6-dev"),
        (&["bench", "run"], &["clang-19"], "TSan of clang 19: apt-get install clang-19 libclang-rt-19-dev"),
        (&["bench", "explore"], &["gcc"], "gcc: apt-get install gcc libc6-dev"),
        (&["bench", "models"], &["objcopy"], "objcopy: apt-get install binutils"),
        (&["bench", "library"], &["z3"], "z3: apt-get install z3"),
        (&["studies"], &["curl"], "curl: apt-get install curl"),
        (&["soak"], &["z3"], "z3: apt-get install z3"),
        (&["readme", "--check"], &["z3"], "z3: apt-get install z3"),
    ];
    for (chore, hidden, advice) in cases {
        let said = refused(chore, hidden);
        assert!(said.contains(advice), "{chore:?} without {hidden:?}: {said}");
        let name =
            chore.iter().take_while(|word| !word.starts_with('-')).copied().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("{name} needs what could not be installed here")), "{said}");
    }
}

/// `bench port` compares with figures for ARM: any clang does, but one must be there.
#[test]
fn one_of_several_is_enough() {
    let all: Vec<String> =
        std::iter::once("clang".to_owned()).chain((14..=30).map(|n| format!("clang-{n}"))).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert!(refused(&["bench", "port"], &all).contains("clang: apt-get install clang"));
}

//! Bad input: one message with a place, exit code 2, nothing on standard output.

use super::{REGISTER, library, scratch, text, write};

#[track_caller]
fn refused(args: &[&str], message: &str) {
    let out = library(args);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(out.stdout.is_empty(), "{}", text(&out.stdout));
    assert!(said.contains(message), "{said}");
    assert!(
        said.lines().count() == 1 || said.starts_with("error: invalid") || said.contains("Usage"),
        "{said}"
    );
}

#[test]
fn files() {
    refused(&["nowhere.c"], "nowhere.c: error: no such file");
    refused(&["."], ".: error: this is a directory");
    let folder = scratch("bad-files");
    refused(&[&write(&folder, "cut.c", &REGISTER[..80])], "cut.c:");
    let unsupported = REGISTER.replace("return", "__asm__(\"nop\"); return");
    refused(&[&write(&folder, "asm.c", &unsupported)], "asm.c:4:");
    refused(&["register.c", &write(&folder, "bad.c", "int f(")], "bad.c:");
}

#[test]
fn flags() {
    refused(&[], "required");
    refused(&["--spec", "nonsense", "register.c"], "this is not key=value");
    refused(&["--spec", "specification=tree", "register.c"], "--spec specification=tree: error: ");
    refused(&["--bounds", "3", "register.c"], "two numbers from 1 to 8");
    refused(&["--bounds", "0,2", "register.c"], "two numbers from 1 to 8");
    refused(&["--fix", "register.c"], "--compose");
    refused(&["-o", "x.c", "--compose", "compose/client.c", "register.c"], "--fix");
    refused(&["--svg", "a.svg", "register.c", "treiber.c"], "one FILE");
    refused(&["--workers", "0", "register.c"], "0");
}

#[test]
fn clients() {
    let folder = scratch("bad-clients");
    let libraries = ["compose/first.c", "compose/second.c"];
    refused(&[&["--compose", "nowhere.c"], &libraries[..]].concat(), "nowhere.c: error: no such file");
    let bad = write(&folder, "bad.c", "int main(void) { return }\n");
    refused(&[&["--compose", bad.as_str()], &libraries[..]].concat(), "bad.c:1:");
    let pointer = write(
        &folder,
        "pointer.c",
        "int get1(void);\nint (*f)(void) = get1;\nint main(void) { return f(); }\n",
    );
    refused(
        &[&["--compose", pointer.as_str()], &libraries[..]].concat(),
        "pointer.c:2:18: error: the address of `get1`",
    );
    refused(
        &["--compose", "compose/client.c", "compose/first.c", "compose/first.c"],
        "libraries have to be disjoint",
    );
}

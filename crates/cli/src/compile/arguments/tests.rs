//! Command lines as build systems write them.

use super::*;

fn job(line: &str) -> Job {
    read(&split(line))
}

fn stage(line: &str) -> Stage {
    job(line).stage
}

#[test]
fn questions() {
    for line in
        ["", "-v", "--version", "-dumpmachine", "-print-search-dirs", "-print-prog-name=ld", "-o x", "-I dir"]
    {
        assert_eq!(stage(line), Stage::Question, "{line}");
    }
    assert_eq!(stage("-cc1 -emit-obj x.c"), Stage::Question);
}

#[test]
fn compilations() {
    for line in
        ["-c x.c", "-S x.c", "-E x.c", "-M x.c", "-MM x.c", "-fsyntax-only x.c", "x.h", "-x c-header y"]
    {
        assert_eq!(stage(line), Stage::Compile, "{line}");
    }
    assert_eq!(stage("-x c++ -c - -o x.o"), Stage::Compile);
}

#[test]
fn links() {
    for line in
        ["x.c", "x.o y.o -o x", "-MD -MF x.d x.c -o x", "-x c -", "-Wl,--whole-archive,x.a -o y", "-lfoo"]
    {
        assert_eq!(stage(line), Stage::Executable, "{line}");
    }
    assert_eq!(stage("-shared x.o -o x.so"), Stage::Shared);
    assert_eq!(stage("-Wl,-shared x.o -o x.so"), Stage::Shared);
    assert_eq!(stage("-r x.o y.o -o z.o"), Stage::Relocatable);
    assert_eq!(stage("-nostdlib -Wl,-r x.o"), Stage::Relocatable);
    // The value of an option is no input.
    assert_eq!(stage("-include x.h -o shared"), Stage::Question);
}

#[test]
fn undefined_names() {
    for line in
        ["-Wl,-z,defs", "-Wl,--no-undefined", "-z defs", "-Xlinker -z -Xlinker defs", "-Wl,-z -Wl,defs"]
    {
        assert!(job(&format!("-shared x.o {line}")).no_undefined, "{line}");
    }
    assert!(!job("-shared x.o -Wl,-z,now").no_undefined);
}

#[test]
fn conflicts() {
    let conflict = |line: &str| job(line).conflict;
    assert_eq!(conflict("-static x.c"), Some(Conflict::Static("-static".to_owned())));
    assert_eq!(conflict("-static -c x.c"), None);
    assert_eq!(conflict("-static -shared x.o"), None);
    assert_eq!(
        conflict("-fsanitize=undefined,address -c x.c"),
        Some(Conflict::Sanitizer("-fsanitize=undefined,address".to_owned()))
    );
    assert_eq!(conflict("-fsanitize=undefined,thread x.c"), None);
    assert_eq!(conflict("-m32 -c x.c"), Some(Conflict::Machine("-m32".to_owned())));
    assert_eq!(conflict("--target=x86_64-pc-linux-gnu x.c"), None);
    assert!(conflict("-target aarch64-linux-gnu x.c").is_some());
}

#[test]
fn without_libc() {
    assert!(job("-nostdlib x.o").freestanding);
    assert!(!job("-nostdlib x.o -lc").freestanding);
    assert!(!job("x.o -lc -nodefaultlibs").freestanding);
    assert!(!job("x.o").freestanding);
}

#[test]
fn response_files() {
    assert_eq!(split("-c 'a b.c'\n\"d\\\"e\" f\\ g ''"), ["-c", "a b.c", "d\"e", "f g", ""]);
    let file = std::env::temp_dir().join(format!("seqcst-arguments-{}", std::process::id()));
    std::fs::write(&file, "-shared -o x.so").expect("a temporary file");
    let job = Job::new(&[format!("@{}", file.display()).into(), "x.o".into()]);
    std::fs::remove_file(&file).expect("the same file");
    assert_eq!(job.stage, Stage::Shared);
    // What isn't there is the compiler's to complain about.
    assert_eq!(Job::new(&["@/nowhere/at/all".into()]).stage, Stage::Executable);
}

//! Which compiler does the work: the one that `SEQCST_CC` or `SEQCST_CXX` names, else clang, else gcc.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C: `seqcst cc`.
    C,
    /// C++: `seqcst c++`.
    Cxx,
}

/// Compilers that take the same flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// clang and its relatives.
    Clang,
    /// gcc.
    Gcc,
}

/// A compiler.
pub struct Compiler {
    /// How to call it: the program, and words before all arguments (`ccache gcc`).
    pub words: Vec<OsString>,
    /// Which flags it takes.
    pub family: Family,
}

/// Versions of clang by which it may be installed under no other name, the newest first.
const CLANG_VERSIONS: std::ops::RangeInclusive<u32> = 14..=30;

/// The compiler for a language.
pub fn compiler(language: Language) -> Result<Compiler, String> {
    let (variable, clang, gcc, common) = match language {
        Language::C => ("SEQCST_CC", "clang", "gcc", "cc"),
        Language::Cxx => ("SEQCST_CXX", "clang++", "g++", "c++"),
    };
    if let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return named(variable, &value.to_string_lossy());
    }
    let versions = CLANG_VERSIONS.rev().map(|version| format!("{clang}-{version}"));
    let known = std::iter::once(clang.to_owned()).chain(versions).map(|name| (name, Family::Clang));
    for (name, family) in known.chain([(gcc.to_owned(), Family::Gcc)]) {
        if let Some(path) = find(&name) {
            return Ok(Compiler { words: vec![path.into()], family });
        }
    }
    match find(common) {
        Some(path) => Ok(Compiler { family: ask(&[path.clone().into()])?, words: vec![path.into()] }),
        None => Err(format!("neither {clang} nor {gcc} is installed (or name another compiler: {variable})")),
    }
}

/// Whether the compilers can instrument atomics only, as far as they are there.
pub fn atomics_only() -> bool {
    let can = |language| compiler(language).map_or(true, |compiler| compiler.family == Family::Clang);
    can(Language::C) && can(Language::Cxx)
}

/// The compiler that a variable names.
fn named(variable: &str, value: &str) -> Result<Compiler, String> {
    let words: Vec<OsString> = value.split_whitespace().map(OsString::from).collect();
    let Some(program) = words.first() else { return Err(format!("{variable} names no compiler")) };
    let Some(path) = find(&program.to_string_lossy()) else {
        return Err(format!("{variable} names `{}`, which can't be run", program.to_string_lossy()));
    };
    if is_own(&path) {
        return Err(format!("{variable} names seqcst itself: it must name the compiler that does the work"));
    }
    let last = words.last().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let family = match by_name(Path::new(&last)) {
        Some(family) => family,
        None => ask(&words).map_err(|why| format!("{variable}: {why}"))?,
    };
    Ok(Compiler { words, family })
}

/// Whether a program is this one, or one of those that call it: they would call each other for ever.
pub fn is_own(path: &Path) -> bool {
    let folder = |path: &Path| path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let own = std::env::current_exe().ok();
    name.starts_with("seqcst") && own.is_some_and(|own| folder(&own) == folder(path))
}

/// What a name like `/usr/bin/x86_64-linux-gnu-gcc-12` tells.
fn by_name(path: &Path) -> Option<Family> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let is = |word: &str| name.split('-').any(|part| part == word);
    if is("clang") || is("clang++") {
        Some(Family::Clang)
    } else if is("gcc") || is("g++") {
        Some(Family::Gcc)
    } else {
        None
    }
}

/// What the compiler tells about itself.
fn ask(words: &[OsString]) -> Result<Family, String> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["-dM", "-E", "-x", "c", "/dev/null"]).stdin(Stdio::null());
    let shown = words.join(" ".as_ref()).to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{shown}`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let defines = |name: &str| text.lines().any(|line| line.split(' ').nth(1) == Some(name));
    match (defines("__clang__"), defines("__GNUC__")) {
        (true, _) => Ok(Family::Clang),
        (_, true) => Ok(Family::Gcc),
        _ => Err(format!("`{shown}` is neither clang nor gcc")),
    }
}

/// Where a program is.
fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return is_program(Path::new(name)).then(|| PathBuf::from(name));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_family() {
        let family = |name: &str| by_name(Path::new(name));
        assert_eq!(family("/usr/bin/clang++-19"), Some(Family::Clang));
        assert_eq!(family("x86_64-linux-gnu-gcc-12"), Some(Family::Gcc));
        assert_eq!(family("g++"), Some(Family::Gcc));
        assert_eq!(family("/usr/bin/cc"), None);
    }
}

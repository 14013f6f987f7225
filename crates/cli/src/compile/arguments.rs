//! What a compiler's command line asks for: questions, compilations, executables, libraries.
//!
//! gcc and clang agree on what matters here. Response files are looked into, to any depth that makes sense.

use std::ffi::OsString;
use std::path::Path;

/// What is to be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Nothing: a question about the compiler.
    Question,
    /// Objects, assembly, dependencies, a precompiled header: no linking.
    Compile,
    /// An executable.
    Executable,
    /// A shared library.
    Shared,
    /// One object out of several.
    Relocatable,
}

/// A compiler's command line, understood as far as needed.
#[derive(PartialEq, Eq, Debug)]
pub struct Job {
    /// What is to be made.
    pub stage: Stage,
    /// The first flag that asks for what can't be done here.
    pub conflict: Option<Conflict>,
    /// The linker shall refuse undefined names, even in shared libraries.
    pub no_undefined: bool,
    /// No libc is linked.
    pub freestanding: bool,
}

/// A flag that can't be honoured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// A static executable.
    Static(String),
    /// Another sanitizer that needs the program for itself.
    Sanitizer(String),
    /// Not x86-64.
    Machine(String),
}

/// Options whose value is the next word.
const WITH_VALUE: [&str; 47] = [
    "-o",
    "-x",
    "-I",
    "-L",
    "-D",
    "-U",
    "-l",
    "-B",
    "-T",
    "-u",
    "-e",
    "-z",
    "-h",
    "-A",
    "-F",
    "-G",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-Xopenmp-target",
    "-mllvm",
    "-arch",
    "-target",
    "-include",
    "-include-pch",
    "-imacros",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isystem",
    "-iquote",
    "-isysroot",
    "-imultilib",
    "-aux-info",
    "--param",
    "-wrapper",
    "-specs",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-gcc-toolchain",
];

/// Flags that stop before the linker.
const NO_LINKING: [&str; 10] = [
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--analyze",
    "--precompile",
    "--preprocess",
    "--compile",
];

/// Questions: nothing is compiled whatever else is said.
const QUESTIONS: [&str; 9] = [
    "--version",
    "-dumpversion",
    "-dumpfullversion",
    "-dumpmachine",
    "-dumpspecs",
    "--help",
    "--target-help",
    "-cc1",
    "-cc1as",
];

/// Sanitizers with a runtime and a shadow memory of their own.
const SANITIZERS: [&str; 6] = ["address", "hwaddress", "memory", "leak", "kernel-address", "dataflow"];

impl Job {
    /// Reads a command line, without the compiler's own name.
    pub fn new(args: &[OsString]) -> Job {
        let mut words = Vec::new();
        expand(args.iter().map(|word| word.to_string_lossy().into_owned()), 0, &mut words);
        read(&words)
    }
}

fn read(words: &[String]) -> Job {
    let mut job = Job { stage: Stage::Executable, conflict: None, no_undefined: false, freestanding: false };
    let (mut inputs, mut headers, mut question, mut compile) = (0, 0, false, false);
    let (mut shared, mut relocatable, mut bare, mut libc) = (false, false, false, false);
    let mut linker: Vec<&str> = Vec::new();
    let mut refused: Vec<Conflict> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at).map(String::as_str) {
        let takes_next = WITH_VALUE.contains(&word);
        let value = if takes_next { words.get(at + 1).map_or("", String::as_str) } else { "" };
        at += if takes_next { 2 } else { 1 };
        match word {
            "-Xlinker" => linker.push(value),
            "-z" => linker.extend(["-z", value]),
            "-x" => headers += usize::from(value.ends_with("-header")),
            "-l" => {
                inputs += 1;
                libc |= value == "c";
            }
            "-shared" => shared = true,
            "-r" => relocatable = true,
            "-static" | "-static-pie" | "--static" => refused.push(Conflict::Static(word.to_owned())),
            "-m32" | "-mx32" | "-m16" => refused.push(Conflict::Machine(word.to_owned())),
            "-nostdlib" | "-nodefaultlibs" | "-nolibc" => bare = true,
            "-target" if !is_ours(value) => refused.push(Conflict::Machine(format!("-target {value}"))),
            "-" => inputs += 1,
            _ if takes_next => {}
            _ if NO_LINKING.contains(&word) => compile = true,
            _ if is_question(word) => question = true,
            _ => match word.split_once(['=', ',']) {
                Some(("-Wl", rest)) => linker.extend(rest.split(',')),
                Some(("--target", machine)) if !is_ours(machine) => {
                    refused.push(Conflict::Machine(word.to_owned()));
                }
                Some(("-fsanitize", _)) => {
                    let (_, list) = word.split_once('=').unwrap_or_default();
                    if list.split(',').any(|name| SANITIZERS.contains(&name)) {
                        refused.push(Conflict::Sanitizer(word.to_owned()));
                    }
                }
                _ if word.starts_with("-l") => {
                    inputs += 1;
                    libc |= word == "-lc";
                }
                _ if word.starts_with('-') => {}
                _ => {
                    inputs += 1;
                    headers += usize::from(is_header(word));
                }
            },
        }
    }
    let linker_says = |flags: &[&str]| linker.iter().any(|word| flags.contains(word));
    inputs += linker.iter().filter(|word| is_object(word)).count();
    job.no_undefined = linker_says(&["--no-undefined", "-no-undefined", "-zdefs"])
        || linker.windows(2).any(|pair| pair == ["-z", "defs"]);
    job.freestanding = bare && !libc;
    job.stage = if question || inputs == 0 {
        Stage::Question
    } else if compile || (headers > 0 && headers >= inputs) {
        Stage::Compile
    } else if relocatable || linker_says(&["-r", "-i", "--relocatable"]) {
        Stage::Relocatable
    } else if shared || linker_says(&["-shared", "--shared", "-Bshareable"]) {
        Stage::Shared
    } else {
        Stage::Executable
    };
    let static_counts = job.stage == Stage::Executable;
    job.conflict =
        refused.into_iter().find(|conflict| static_counts || !matches!(conflict, Conflict::Static(_)));
    job
}

fn is_question(word: &str) -> bool {
    let prefixes = ["-print-", "--print-", "--help="];
    QUESTIONS.contains(&word) || prefixes.iter().any(|prefix| word.starts_with(prefix))
}

/// Whether a target is x86-64 Linux.
fn is_ours(target: &str) -> bool {
    (target.starts_with("x86_64") || target.starts_with("amd64")) && target.contains("linux")
}

fn is_header(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["h", "hh", "hpp", "hxx", "H", "h++", "tcc"].contains(&extension)
}

fn is_object(word: &str) -> bool {
    !word.starts_with('-') && [".o", ".a", ".so", ".lo"].iter().any(|end| word.ends_with(end))
}

/// Replaces each `@file` by the words in it. A file that can't be read is left for the compiler to complain about.
fn expand(words: impl Iterator<Item = String>, depth: u32, out: &mut Vec<String>) {
    for word in words {
        let text = word.strip_prefix('@').filter(|_| depth < 16).and_then(|file| std::fs::read(file).ok());
        match text {
            Some(text) => expand(split(&String::from_utf8_lossy(&text)).into_iter(), depth + 1, out),
            None => out.push(word),
        }
    }
}

/// The words of a response file: separated by white space, with quotes and backslashes as in a shell.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut escaped) = (Vec::new(), None::<String>, None, false);
    for c in text.chars() {
        if escaped {
            word.get_or_insert_default().push(c);
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && (c == '"' || c == '\'') {
            quote = Some(c);
            word.get_or_insert_default();
        } else if quote.is_none() && c.is_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(c);
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests;

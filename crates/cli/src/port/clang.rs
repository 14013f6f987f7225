//! C and C++ to LLVM IR, by clang.

use crate::compile::{Family, Language, compiler};
use seqcst_port::machine::Machine;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How one source is compiled.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The source.
    pub source: PathBuf,
    /// Flags of its own: include paths, definitions.
    pub flags: Vec<OsString>,
    /// Where relative paths begin.
    pub folder: Option<PathBuf>,
}

/// The language of a file, by its name.
pub fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" => Some(Language::C),
        "cc" | "cpp" | "cxx" | "c++" | "C" => Some(Language::Cxx),
        _ => None,
    }
}

/// What clang calls a machine, what its 64-bit or 32-bit Linux is called, and where Debian puts its headers.
fn target(machine: Machine, rcpc: bool) -> (&'static str, &'static [&'static str], &'static str) {
    match machine {
        Machine::Sc | Machine::X86 => ("x86_64-linux-gnu", &[], "/usr/x86_64-linux-gnu/include"),
        Machine::ArmV8 => {
            let plain: &[&str] = &["-mno-outline-atomics"];
            let flags = if rcpc { &["-mno-outline-atomics", "-march=armv8-a+rcpc"] } else { plain };
            ("aarch64-linux-gnu", flags, "/usr/aarch64-linux-gnu/include")
        }
        Machine::ArmV7 => ("armv7-linux-gnueabihf", &["-march=armv7-a"], "/usr/arm-linux-gnueabihf/include"),
    }
}

/// What came out.
pub struct Compiled {
    /// The IR.
    pub text: String,
    /// Whether it was compiled for this machine because the other one's headers are not there.
    pub for_host: bool,
}

/// Compiles a source for a machine; the message of clang if that fails.
pub fn compile(unit: &Unit, (machine, rcpc): (Machine, bool), more: &[OsString]) -> Result<Compiled, String> {
    let language = language(&unit.source).unwrap_or(Language::C);
    let compiler = compiler(language)?;
    if compiler.family != Family::Clang {
        return Err("clang is not installed: C and C++ can't be compiled to LLVM IR".to_owned());
    }
    let (name, flags, headers) = target(machine, rcpc);
    let run = |target: &[&str]| {
        let mut command = Command::new(&compiler.words[0]);
        command.args(&compiler.words[1..]).args(["-S", "-emit-llvm", "-o", "-", "-O1", "-g", "-w"]);
        command.args(target).args(&unit.flags).args(more).arg("-x");
        command.arg(if language == Language::C { "c" } else { "c++" }).arg(&unit.source);
        if let Some(folder) = &unit.folder {
            command.current_dir(folder);
        }
        let out = command.output().map_err(|error| format!("clang can't be run: {error}"))?;
        match out.status.success() {
            true => String::from_utf8(out.stdout).map_err(|_| "clang's output is not valid UTF-8".to_owned()),
            false => Err(String::from_utf8_lossy(&out.stderr).into_owned()),
        }
    };
    let target_flag = format!("--target={name}");
    let mut for_target: Vec<&str> = vec![&target_flag];
    for_target.extend(flags);
    if machine > Machine::X86 && Path::new(headers).is_dir() {
        for_target.extend(["-isystem", headers]);
    }
    match run(&for_target) {
        Ok(text) => Ok(Compiled { text, for_host: false }),
        // No headers for that machine, perhaps. What is atomic and how does not depend on it.
        Err(message) if machine > Machine::X86 => match run(&[]) {
            Ok(text) => Ok(Compiled { text, for_host: true }),
            Err(_) => Err(message),
        },
        Err(message) => Err(message),
    }
}

/// Reads a `compile_commands.json`.
pub fn commands(text: &str, path: &Path) -> Result<Vec<Unit>, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        format!("{}:{}:{}: error: {error}\n", path.display(), error.line(), error.column())
    })?;
    let bad = |what: &str| format!("{}: error: {what}\n", path.display());
    let entries = value.as_array().ok_or_else(|| bad("a list of commands is expected"))?;
    let mut units = Vec::new();
    for entry in entries {
        let text = |key: &str| entry.get(key).and_then(|value| value.as_str());
        let file = text("file").ok_or_else(|| bad("a command without a `file`"))?;
        let near = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = text("directory").map_or(near.to_owned(), |folder| near.join(folder));
        let words: Vec<String> = match (entry.get("arguments").and_then(|a| a.as_array()), text("command")) {
            (Some(words), _) => words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
            (None, Some(command)) => split(command),
            (None, None) => return Err(bad("a command without `arguments` or `command`")),
        };
        let folder = folder.canonicalize().unwrap_or(folder);
        let source = folder.join(file);
        if language(&source).is_none() || units.iter().any(|unit: &Unit| unit.source == source) {
            continue;
        }
        units.push(Unit { flags: kept(&words), source, folder: Some(folder) });
    }
    Ok(units)
}

/// The flags that say what a source means: include paths, definitions, the language's version.
fn kept(words: &[String]) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let apart =
            ["-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-iprefix"];
        if apart.contains(&word.as_str()) {
            out.push(word.into());
            out.extend(words.next().map(OsString::from));
        } else if ["-I", "-D", "-U", "-std=", "-f", "-pthread", "-isystem"]
            .iter()
            .any(|flag| word.starts_with(flag))
            && !word.starts_with("-fsanitize")
            && !word.starts_with("-flto")
        {
            out.push(word.into());
        }
    }
    out
}

/// A command line in words, as a shell would split it.
fn split(command: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(q)) if c == q => quote = None,
            (c, None) if c.is_whitespace() => out.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_and_sifted() {
        let words = split(r#"cc -c -O3 -DNAME="a b" -I 'x y' -Wall -o a.o a.c"#);
        assert_eq!(words[3], "-DNAME=a b");
        assert_eq!(kept(&words), ["-DNAME=a b", "-I", "x y"].map(OsString::from));
    }

    #[test]
    fn compile_commands() {
        let text = r#"[{"directory": "/tmp", "file": "a.c", "arguments": ["cc", "-Ix", "a.c"]},
                       {"directory": "/tmp", "file": "b.s", "command": "as b.s"}]"#;
        let units = commands(text, Path::new("/tmp/compile_commands.json")).expect("is fine");
        assert_eq!(units.len(), 1);
        assert!(commands("[{}]", Path::new("x")).is_err());
        assert!(commands("{", Path::new("x")).is_err_and(|message| message.starts_with("x:1:")));
    }
}

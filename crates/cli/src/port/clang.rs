//! C and C++ to LLVM IR, by clang.

use crate::compile::{Family, Language, compiler};
use crate::run::once::wait_for;
use seqcst_port::analysis::Refused;
use seqcst_port::limit::Deadline;
use seqcst_port::machine::Machine;
use seqcst_port::program::Place;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

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

/// How C is compiled for a machine.
struct Target {
    /// What clang calls it.
    name: &'static str,
    flags: &'static [&'static str],
    /// Where Debian puts its headers, and the package that does.
    headers: &'static str,
    package: &'static str,
}

impl Target {
    fn new(machine: Machine, rcpc: bool) -> Target {
        let (name, flags, headers, package): (_, &'static [&'static str], _, _) = match machine {
            Machine::Sc | Machine::X86 => {
                ("x86_64-linux-gnu", &[], "/usr/x86_64-linux-gnu/include", "libc6-dev-amd64-cross")
            }
            Machine::ArmV8 => {
                let plain: &[&str] = &["-mno-outline-atomics"];
                let flags = if rcpc { &["-mno-outline-atomics", "-march=armv8-a+rcpc"] } else { plain };
                ("aarch64-linux-gnu", flags, "/usr/aarch64-linux-gnu/include", "libc6-dev-arm64-cross")
            }
            Machine::ArmV7 => (
                "armv7-linux-gnueabihf",
                &["-march=armv7-a"],
                "/usr/arm-linux-gnueabihf/include",
                "libc6-dev-armhf-cross",
            ),
        };
        Target { name, flags, headers, package }
    }

    fn has_headers(&self) -> bool {
        Path::new(self.headers).is_dir()
    }

    fn arguments(&self, machine: Machine) -> Vec<String> {
        let mut all = vec![format!("--target={}", self.name)];
        all.extend(self.flags.iter().map(|flag| (*flag).to_owned()));
        if machine > Machine::X86 && self.has_headers() {
            all.extend(["-isystem".to_owned(), self.headers.to_owned()]);
        }
        all
    }
}

/// What came out.
pub struct Compiled {
    /// The IR.
    pub text: String,
    /// Why it was compiled for this machine and not for the other one, if so.
    pub for_host: Option<String>,
    /// Inline assembly that the other machine hasn't.
    pub refused: Vec<Refused>,
}

/// Why nothing came out.
pub enum Failed {
    /// What clang says.
    Message(String),
    /// There was no time.
    Late,
}

impl From<String> for Failed {
    fn from(message: String) -> Failed {
        Failed::Message(message)
    }
}

/// Compiles a source for a machine. If that fails, for this one: what is atomic and how does not depend on it.
pub fn compile(
    unit: &Unit,
    (machine, rcpc): (Machine, bool),
    more: &[OsString],
    deadline: Deadline,
) -> Result<Compiled, Failed> {
    let language = language(&unit.source).unwrap_or(Language::C);
    let compiler = compiler(language)?;
    if compiler.family != Family::Clang {
        let name = Path::new(&compiler.words[0]).file_name().unwrap_or_default().to_string_lossy();
        let variable = if language == Language::C { "SEQCST_CC" } else { "SEQCST_CXX" };
        return Err(Failed::Message(match std::env::var_os(variable) {
            Some(named) if !named.is_empty() => {
                format!("{variable} names {name}, which is not clang: only clang makes LLVM IR of C and C++")
            }
            _ => format!("clang is not installed, and {name} makes no LLVM IR of C and C++"),
        }));
    }
    if let Some(folder) = unit.folder.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Failed::Message(format!(
            "there is no directory {}, where it is compiled",
            folder.display()
        )));
    }
    let run = |what: &[&str], target: &[String]| -> Result<(bool, String, String), Failed> {
        let mut command = Command::new(&compiler.words[0]);
        command.args(&compiler.words[1..]).args(what).args(["-O1", "-g", "-w"]);
        command.args(target).args(&unit.flags).args(more).arg("-x");
        command.arg(if language == Language::C { "c" } else { "c++" }).arg(&unit.source);
        if let Some(folder) = &unit.folder {
            command.current_dir(folder);
        }
        let out = output_within(&mut command, deadline);
        let out = out.map_err(|error| format!("clang can't be run: {error}"))?.ok_or(Failed::Late)?;
        let text =
            String::from_utf8(out.stdout).map_err(|_| "clang's output is not valid UTF-8".to_owned())?;
        Ok((out.status.success(), text, String::from_utf8_lossy(&out.stderr).into_owned()))
    };
    let target = Target::new(machine, rcpc);
    let to_ir = ["-S", "-emit-llvm", "-o", "-"];
    let (is_done, text, said) = run(&to_ir, &target.arguments(machine))?;
    if is_done {
        let refused = match has_assembly(&text) {
            true => refused(&run(&["-c", "-o", "/dev/null"], &target.arguments(machine))?.2),
            false => Vec::new(),
        };
        return Ok(Compiled { text, for_host: None, refused });
    }
    if machine <= Machine::X86 {
        return Err(Failed::Message(said));
    }
    match run(&to_ir, &[])? {
        (true, text, _) => {
            let (why, refused) = (target.why_not(machine, &said), refused(&said));
            Ok(Compiled { text, for_host: Some(why), refused })
        }
        // What is wrong here is wrong everywhere; what clang said before may come of headers that are not there.
        (false, _, here) => Err(Failed::Message(here)),
    }
}

impl Target {
    /// Why something could not be compiled for it, by what clang says.
    fn why_not(&self, machine: Machine, said: &str) -> String {
        if !self.has_headers() && said.contains("file not found") {
            return format!("there are no headers for {machine} (Debian's are in {})", self.package);
        }
        let first = said.lines().find(|line| line.contains("error:")).unwrap_or("clang fails").trim();
        format!("clang can't compile it for {machine}: {first}")
    }
}

/// Whether IR has inline assembly with something in it.
fn has_assembly(ir: &str) -> bool {
    ir.lines().any(|line| {
        line.contains(" asm ") && !line.contains("asm sideeffect \"\"") && !line.contains(" asm \"\"")
    })
}

/// The inline assembly that clang complains about: instructions that are none, registers that are not there.
fn refused(said: &str) -> Vec<Refused> {
    let lines: Vec<&str> = said.lines().collect();
    let mut out: Vec<Refused> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some((place, why)) = line.split_once(": error: ") else { continue };
        let assembled = lines[number..].iter().skip(1).take(4).any(|line| line.starts_with("<inline asm>:"));
        if !assembled && !why.contains(" in asm") {
            continue;
        }
        let mut parts = place.rsplitn(3, ':');
        let (column, line, file) = (parts.next(), parts.next(), parts.next());
        let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok());
        let (Some(column), Some(line), Some(file)) = (number(column), number(line), file) else { continue };
        let place = Place { file: file.to_owned(), line, column };
        if out.last().is_none_or(|last| last.place != place) {
            out.push(Refused { place, why: why.to_owned() });
        }
    }
    out
}

/// Runs a command; none if it did not end in time, and is gone.
fn output_within(command: &mut Command, deadline: Deadline) -> std::io::Result<Option<Output>> {
    if deadline.left() == Some(Duration::ZERO) {
        return Ok(None);
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let status = match deadline.left() {
        Some(left) => wait_for(&mut child, left)?,
        None => Some(child.wait()?),
    };
    let Some(status) = status else {
        // Its own children may hold the pipes for ever: nobody waits for those who read them.
        child.kill()?;
        child.wait()?;
        return Ok(None);
    };
    let got = |read: Option<JoinHandle<Vec<u8>>>| read.and_then(|read| read.join().ok()).unwrap_or_default();
    Ok(Some(Output { status, stdout: got(stdout), stderr: got(stderr) }))
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        let _ = from.read_to_end(&mut all);
        all
    })
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
    fn assembly_that_is_refused() {
        let said = "a.c:3:37: error: unrecognized instruction mnemonic\nvoid f(void) { asm(\"mfence\"); }\n  ^\n\
                    <inline asm>:1:2: note: instantiated into assembly here\nb.c:4:5: error: no such thing\n\
                    a.c:9:2: error: invalid output constraint '=a' in asm\n";
        let places: Vec<String> = refused(said).iter().map(|refused| refused.place.to_string()).collect();
        assert_eq!(places, ["a.c:3:37", "a.c:9:2"]);
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

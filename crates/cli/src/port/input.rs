//! Programs to LLVM IR, or one message about what is wrong.

use super::clang::{self, Failed, Unit, compile};
use crate::flags::PortFlags;
use seqcst_port::analysis::Compilation;
use seqcst_port::ir::{self, code::File};
use seqcst_port::limit::Deadline;
use seqcst_port::machine::Machine;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program: files that belong together.
#[derive(Debug)]
pub struct Program {
    /// What the user calls it.
    pub name: String,
    /// Its files.
    pub parts: Vec<Part>,
}

/// A file of a program.
#[derive(Clone, Debug)]
pub enum Part {
    /// LLVM IR.
    Ir(PathBuf),
    /// C or C++.
    Source(Unit),
}

impl Part {
    /// Where it is stored.
    pub fn path(&self) -> &Path {
        match self {
            Part::Ir(path) => path,
            Part::Source(unit) => &unit.source,
        }
    }
}

/// The files of a program.
#[derive(Default)]
pub struct Read {
    /// The modules, in the order of [`Program::parts`].
    pub files: Vec<File>,
    /// What clang did.
    pub compilation: Compilation,
}

/// The files of a program for a machine.
pub fn load(
    program: &Program,
    machine: Machine,
    flags: &PortFlags,
    deadline: Deadline,
) -> Result<Read, Failed> {
    let mut out = Read::default();
    for part in &program.parts {
        let name = part.path().display().to_string();
        let text = match part {
            Part::Ir(path) => read(path, &name)?,
            Part::Source(unit) => {
                let compiled = compile(unit, (machine, flags.rcpc), &flags.clang, deadline);
                let compiled = compiled.map_err(|failed| match failed {
                    Failed::Message(message) => Failed::Message(clang_failed(&name, &message)),
                    Failed::Late => Failed::Late,
                })?;
                out.compilation.for_host.extend(compiled.for_host.map(|why| (name.clone(), why)));
                out.compilation.refused.extend(compiled.refused);
                compiled.text
            }
        };
        // A place in what clang has made is none in the source.
        let message = |place: String, message: &str| match part {
            Part::Ir(_) => format!("{place}: error: {message}\n"),
            Part::Source(_) => format!("{name}: error: in the LLVM IR that clang makes of it: {message}\n"),
        };
        let module = ir::read(&text).map_err(|error| {
            let (line, column) = error.line_column(&text);
            message(format!("{name}:{line}:{column}"), &error.message)
        })?;
        if !module.triple.is_empty() && Machine::of_triple(&module.triple).is_none() {
            let place = where_it_says(&name, &module.triple, &text);
            let why = format!("`{}` is not a supported target: x86, ARMv8 or ARMv7", module.triple);
            return Err(Failed::Message(message(place, &why)));
        }
        out.files.push(File { name, text, module });
        if deadline.left() == Some(Duration::ZERO) {
            return Err(Failed::Late);
        }
    }
    defined_once(&out.files)?;
    Ok(out)
}

/// What a linker asks for: no function is in two files of a program.
fn defined_once(files: &[File]) -> Result<(), String> {
    let mut known: HashMap<&str, &str> = HashMap::new();
    for file in files {
        for name in file.text.lines().filter_map(defined) {
            if let Some(other) = known.insert(name, &file.name) {
                let message =
                    format!("`{name}` is defined here and in {other}: these are no files of one program");
                return Err(format!("{}: error: {message}; ask about each by itself\n", file.name));
            }
        }
    }
    Ok(())
}

/// The function that a line begins, if there may be only one of that name.
fn defined(line: &str) -> Option<&str> {
    let (before, name) = line.strip_prefix("define ")?.split_once('@')?;
    let several =
        ["internal", "private", "linkonce", "linkonce_odr", "weak", "weak_odr", "available_externally"];
    let name = &name[..name.find('(')?];
    (!before.split(' ').any(|word| several.contains(&word))).then_some(name)
}

/// Where a file says what it is for.
pub fn where_it_says(name: &str, triple: &str, text: &str) -> String {
    let (line, column) =
        ir::lexer::line_column(text, text.find(&format!("\"{triple}\"")).unwrap_or_default());
    format!("{name}:{line}:{column}")
}

/// Clang says file, line and column itself.
fn clang_failed(name: &str, message: &str) -> String {
    match message.contains("error:") {
        true => format!("{}\n", message.trim_end()),
        false => format!("{name}: error: {}\n", message.trim_end()),
    }
}

/// The largest file that is read.
const LARGEST: u64 = 1 << 30;

fn read(path: &Path, name: &str) -> Result<String, String> {
    let at_start = |why: &str| format!("{name}:1:1: error: {why}\n");
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() > LARGEST) {
        return Err(at_start("this file has more than 1 GiB, which is too much"));
    }
    let bytes = fs::read(path).map_err(|error| format!("{name}: error: {error}\n"))?;
    if bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B]) {
        return Err(at_start(ir::BITCODE));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before =
            String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
        let (line, column) = ir::lexer::line_column(&before, before.len());
        format!("{name}:{line}:{column}: error: not valid UTF-8: LLVM IR, C or C++ is expected\n")
    })
}

/// Whether a program is C or C++.
pub fn is_source(program: &Program) -> bool {
    program.parts.iter().any(|part| matches!(part, Part::Source(_)))
}

/// Other sources in place of some: for programs whose source was changed.
pub fn replaced(program: &Program, with: &dyn Fn(&Path) -> Option<PathBuf>) -> Program {
    let parts = program.parts.iter().map(|part| match part {
        Part::Source(unit) => {
            let source = with(&unit.source).unwrap_or_else(|| unit.source.clone());
            let mut flags = unit.flags.clone();
            // What it includes stands where it stood.
            if let Some(folder) = unit.source.parent() {
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                flags.extend(["-I".into(), folder.into()]);
            }
            Part::Source(clang::Unit { source, flags, folder: unit.folder.clone() })
        }
        ir => ir.clone(),
    });
    Program { name: program.name.clone(), parts: parts.collect() }
}

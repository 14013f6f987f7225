//! What the user names to programs in LLVM IR, or one message about what is wrong.

use super::clang::{self, Unit, commands, compile, language};
use crate::flags::PortFlags;
use seqcst_port::ir::{self, code::File};
use seqcst_port::machine::Machine;
use std::fs;
use std::path::{Path, PathBuf};

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

/// The programs that a path stands for.
pub fn programs(path: &Path) -> Result<Vec<Program>, String> {
    let name = path.display().to_string();
    let bad = |why: &str| Err(format!("{name}: error: {why}\n"));
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return bad("no such file"),
        Err(error) => return bad(&error.to_string()),
    };
    if metadata.is_dir() {
        return directory(path, name);
    }
    if path.extension().is_some_and(|extension| extension == "json") {
        let text = fs::read_to_string(path).map_err(|error| format!("{name}: error: {error}\n"))?;
        return together(name, commands(&text, path)?.into_iter().map(Part::Source).collect());
    }
    let part = match language(path) {
        Some(_) => Part::Source(Unit { source: path.to_owned(), flags: Vec::new(), folder: None }),
        None => Part::Ir(path.to_owned()),
    };
    Ok(vec![Program { name, parts: vec![part] }])
}

fn together(name: String, parts: Vec<Part>) -> Result<Vec<Program>, String> {
    match parts.is_empty() {
        true => Err(format!("{name}: error: there is no C, C++ or LLVM IR in it\n")),
        false => Ok(vec![Program { name, parts }]),
    }
}

/// A directory: its compile_commands.json, or all that is in it. Files with a `main` of their own are programs of their own.
fn directory(path: &Path, name: String) -> Result<Vec<Program>, String> {
    let database = path.join("compile_commands.json");
    if database.is_file() {
        return programs(&database);
    }
    let read = fs::read_dir(path).map_err(|error| format!("{name}: error: {error}\n"))?;
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let is_ir = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "ll");
    let paths: Vec<PathBuf> =
        paths.into_iter().filter(|path| language(path).is_some() || is_ir(path)).collect();
    let has_main = |path: &PathBuf| {
        let text = fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines().any(|line| line.contains("main(") && !line.trim_start().starts_with("//"))
    };
    let (with, without): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(has_main);
    let part = |path: &PathBuf| match language(path) {
        Some(_) => Part::Source(Unit { source: path.clone(), flags: Vec::new(), folder: None }),
        None => Part::Ir(path.clone()),
    };
    if with.len() < 2 {
        return together(name, with.iter().chain(&without).map(part).collect());
    }
    let alone = |path: &PathBuf| Program {
        name: path.display().to_string(),
        parts: std::iter::once(path).chain(&without).map(part).collect(),
    };
    Ok(with.iter().map(alone).collect())
}

/// The files of a program.
#[derive(Default)]
pub struct Read {
    /// The modules, in the order of [`Program::parts`].
    pub files: Vec<File>,
    /// Whether they were compiled for this machine, as the other one's headers are not there.
    pub for_host: bool,
}

/// The files of a program for a machine.
pub fn load(program: &Program, machine: Machine, flags: &PortFlags) -> Result<Read, String> {
    let mut out = Read::default();
    for part in &program.parts {
        let name = part.path().display().to_string();
        let text = match part {
            Part::Ir(path) => read(path, &name)?,
            Part::Source(unit) => {
                let compiled = compile(unit, (machine, flags.rcpc), &flags.clang)
                    .map_err(|message| clang_failed(&name, &message))?;
                out.for_host |= compiled.for_host;
                compiled.text
            }
        };
        let module = ir::read(&text).map_err(|error| {
            let (line, column) = error.line_column(&text);
            format!("{name}:{line}:{column}: error: {}\n", error.message)
        })?;
        if !module.triple.is_empty() && Machine::of_triple(&module.triple).is_none() {
            let place = where_it_says(&name, &module.triple, &text);
            let message = format!("`{}` is not a supported target: x86, ARMv8 or ARMv7", module.triple);
            return Err(format!("{place}: error: {message}\n"));
        }
        out.files.push(File { name, text, module });
    }
    Ok(out)
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
        return Err(at_start("this file is too large"));
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

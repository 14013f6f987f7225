//! What the user names to programs: which files belong together.
//!
//! Files that are named together are one program, as they are for a compiler; so are all files in a directory and in the
//! directories in it. Where several of them have a `main` each of these is a program of its own, with all files that have none.

use super::clang::{Unit, commands, language};
use super::input::{Part, Program};
use std::fs;
use std::path::{Path, PathBuf};

/// The programs that these paths stand for.
pub fn programs(paths: &[PathBuf]) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("{name}: error: no such file\n"),
            _ => format!("{name}: error: {error}\n"),
        })?;
        if metadata.is_dir() {
            programs.extend(directory(path, name)?);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            programs.extend(database(path, name)?);
        } else if let Some(why) = no_program(path) {
            return Err(format!("{name}: error: {why}\n"));
        } else if !files.contains(path) {
            files.push(path.clone());
        }
    }
    let name: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let named = together(name.join(" "), files.into_iter().map(part).collect());
    Ok(named.into_iter().chain(programs).collect())
}

/// What is wrong with a file, where its name tells that it is nothing to be read here.
fn no_program(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()? {
        "h" | "hh" | "hpp" | "hxx" => Some("this is a header: name the C or C++ that includes it"),
        "o" | "a" | "so" => Some("this is machine code: LLVM IR, C or C++ is expected"),
        "s" | "S" | "asm" => Some("this is assembly: LLVM IR, C or C++ is expected"),
        "rs" => Some("Rust is read as LLVM IR: `rustc --emit=llvm-ir -g -O` makes a .ll of it"),
        _ => None,
    }
}

/// A `compile_commands.json`.
fn database(path: &Path, name: String) -> Result<Vec<Program>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: error: {error}\n"))?;
    let parts: Vec<Part> = commands(&text, path)?.into_iter().map(Part::Source).collect();
    match parts.is_empty() {
        true => Err(format!("{name}: error: it names no C or C++\n")),
        false => Ok(together(name, parts)),
    }
}

/// A directory: its compile_commands.json, or all that is in it.
fn directory(path: &Path, name: String) -> Result<Vec<Program>, String> {
    let commands = path.join("compile_commands.json");
    if commands.is_file() {
        let name = commands.display().to_string();
        return database(&commands, name);
    }
    let mut files = Vec::new();
    within(path, &mut files)?;
    files.sort();
    match files.is_empty() {
        true => Err(format!("{name}: error: there is no C, C++ or LLVM IR in it\n")),
        false => Ok(together(name, files.into_iter().map(part).collect())),
    }
}

/// All files in a directory that are read, and in the directories in it: not hidden ones, not behind links (which may lead back),
/// and not what cmake writes for itself.
fn within(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let bad = |error: std::io::Error| format!("{}: error: {error}\n", folder.display());
    for entry in fs::read_dir(folder).map_err(bad)? {
        let entry = entry.map_err(bad)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(bad)?);
        let name = entry.file_name();
        let is_apart = name.as_encoded_bytes().starts_with(b".") || name == "CMakeFiles";
        if kind.is_dir() && !is_apart {
            within(&path, files)?;
        } else if path.is_file() && (language(&path).is_some() || is_ir(&path)) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_ir(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ll")
}

fn part(path: PathBuf) -> Part {
    match language(&path) {
        Some(_) => Part::Source(Unit { source: path, flags: Vec::new(), folder: None }),
        None => Part::Ir(path),
    }
}

/// The programs that files make up; `name` is what the user calls all of them.
fn together(name: String, parts: Vec<Part>) -> Vec<Program> {
    if parts.len() < 2 {
        return if parts.is_empty() { Vec::new() } else { vec![Program { name, parts }] };
    }
    let has_main = |part: &Part| {
        let text = fs::read(part.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        match part {
            Part::Ir(_) => ir_defines_main(&text),
            Part::Source(_) => defines_main(&text),
        }
    };
    let (with, without): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(has_main);
    if with.len() < 2 {
        return vec![Program { name, parts: [with, without].concat() }];
    }
    let alone = |main: Part| Program {
        name: main.path().display().to_string(),
        parts: std::iter::once(main).chain(without.iter().cloned()).collect(),
    };
    with.into_iter().map(alone).collect()
}

fn ir_defines_main(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("define ") && line.contains("@main("))
}

/// Whether C or C++ has a function `main`: the word in front of a parenthesis outside of all braces, but for those of `extern "C"`,
/// of comments and of strings, and no semicolon behind its parameters.
fn defines_main(text: &str) -> bool {
    let (mut depth, mut linkage) = (0_usize, 0_usize);
    let text = code(text);
    let mut rest = text.as_str();
    let mut before = "";
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (token, behind) = rest.split_at(word.max(c.len_utf8()));
        rest = behind;
        match token {
            // What stood between the quotes is gone.
            "{" if before == "\"" => linkage += 1,
            "{" => depth += 1,
            "}" if depth > 0 => depth -= 1,
            "}" => linkage = linkage.saturating_sub(1),
            "main" if depth == 0 && rest.trim_start().starts_with('(') => {
                let end = rest.find([';', '{']).map(|at| &rest[at..=at]);
                if end == Some("{") {
                    return true;
                }
            }
            _ => {}
        }
        before = if token.trim().is_empty() { before } else { token };
    }
    false
}

/// C or C++ without comments, and without what stands in quotes.
fn code(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('/', Some('/')) => {
                chars.by_ref().find(|&c| c == '\n');
                out.push('\n');
            }
            ('/', Some('*')) => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if (last, c) == ('*', '/') {
                        break;
                    }
                    last = c;
                }
                out.push(' ');
            }
            ('"' | '\'', _) => {
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' => drop(chars.next()),
                        // A digit separator of C++, or a word in `#error`: no string goes beyond its line.
                        '\n' => break,
                        _ if inner == c => break,
                        _ => {}
                    }
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_main() {
        for text in [
            "int main(void) { return 0; }",
            "int\nmain (int argc, char **argv)\n{\n}",
            "// domain\nextern \"C\" {\nint main() {}\n}",
            "char q = '\"';\nint main(void) {",
        ] {
            assert!(defines_main(text), "{text}");
        }
        for text in [
            "int domain(int x) { return x; }",
            "int main(void);\nint f(void) { return 0; }",
            "/* int main(void) { } */\nint f;",
            "// int main(void) {\n",
            "const char *s = \"int main(void) {\";",
            "int f(void) { struct s { int x; }; main(1); { } return 0; }",
            "int main_loop(void) {}",
        ] {
            assert!(!defines_main(text), "{text}");
        }
        assert!(ir_defines_main("define dso_local i32 @main(i32 %0) #0 {\n"));
        assert!(!ir_defines_main("declare i32 @main(i32)\n"));
    }
}

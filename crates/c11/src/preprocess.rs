//! Runs the C preprocessor with headers of our own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::Error;

/// What libraries may include.
const HEADERS: [(&str, &str); 20] = [
    ("assert.h", include_str!("headers/assert.h")),
    ("errno.h", include_str!("headers/errno.h")),
    ("inttypes.h", include_str!("headers/inttypes.h")),
    ("limits.h", include_str!("headers/limits.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
    ("sched.h", include_str!("headers/sched.h")),
    ("semaphore.h", include_str!("headers/semaphore.h")),
    ("stdalign.h", include_str!("headers/stdalign.h")),
    ("stdarg.h", include_str!("headers/stdarg.h")),
    ("stdatomic.h", include_str!("headers/stdatomic.h")),
    ("stdbool.h", include_str!("headers/stdbool.h")),
    ("stddef.h", include_str!("headers/stddef.h")),
    ("stdint.h", include_str!("headers/stdint.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("stdnoreturn.h", include_str!("headers/stdnoreturn.h")),
    ("string.h", include_str!("headers/string.h")),
    ("threads.h", include_str!("headers/threads.h")),
    ("time.h", include_str!("headers/time.h")),
    ("unistd.h", include_str!("headers/unistd.h")),
];

/// The name that the preprocessor gives to the text itself.
pub const ITSELF: &str = "<stdin>";

/// A folder that goes when the value goes.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("seqcst-library-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(unique);
        fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing is lost if it stays behind.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The preprocessed text, with line markers, in which the text itself is called [`ITSELF`].
pub fn preprocess(path: &str, text: &[u8], definitions: &[String]) -> Result<String, Error> {
    let trouble = |what: &str, e: io::Error| Error::of_file(path, format!("{what}: {e}"));
    let folder = Folder::new().map_err(|e| trouble("can't make a temporary folder", e))?;
    for (name, header) in HEADERS {
        fs::write(folder.0.join(name), header).map_err(|e| trouble("can't write a temporary file", e))?;
    }
    let input = folder.0.join("input");
    fs::write(&input, text).map_err(|e| trouble("can't write a temporary file", e))?;
    let input = File::open(&input).map_err(|e| trouble("can't open a temporary file", e))?;
    let beside = Path::new(path).parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let output = Command::new("cc")
        .args(["-E", "-x", "c", "-std=c11", "-nostdinc", "-fdiagnostics-color=never"])
        .arg("-iquote")
        .arg(beside)
        .arg("-I")
        .arg(&folder.0)
        .args(definitions.iter().map(|d| format!("-D{d}")))
        .arg("-")
        .env("LC_ALL", "C")
        .stdin(Stdio::from(input))
        .output()
        .map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Error::of_file(
                path,
                "the C preprocessor `cc` is missing: install gcc or clang and put it in PATH",
            ),
            _ => trouble("can't run the C preprocessor `cc`", e),
        })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(complaint(path, &String::from_utf8_lossy(&output.stderr)))
    }
}

/// The first error that the preprocessor reports.
fn complaint(path: &str, printed: &str) -> Error {
    for line in printed.lines() {
        let Some((place, message)) =
            line.split_once(": fatal error: ").or_else(|| line.split_once(": error: "))
        else {
            continue;
        };
        let mut parts = place.rsplitn(3, ':');
        let (Some(Ok(column)), Some(Ok(row)), Some(file)) =
            (parts.next().map(str::parse), parts.next().map(str::parse), parts.next())
        else {
            return Error::of_file(path, format!("the C preprocessor says: {message}"));
        };
        let file = if file == ITSELF { path } else { file };
        let mut message = message.to_owned();
        if let Some(header) = message.strip_suffix(": No such file or directory") {
            message = format!(
                "there is no header `{header}` here: include headers of C11, such as <stdatomic.h>, and files beside this one"
            );
        }
        return Error { file: file.to_owned(), line: row, column, message };
    }
    let first = printed.lines().next().unwrap_or("no reason given");
    Error::of_file(path, format!("the C preprocessor failed: {first}"))
}

/// Blanks out `_Alignas(…)`, which says nothing about values and which the parser doesn't know in structs.
pub fn drop_alignment(text: &mut String) {
    const WORD: &str = "_Alignas";
    let mut from = 0;
    while let Some(found) = text[from..].find(WORD) {
        let start = from + found;
        let rest = &text[start + WORD.len()..];
        from = start + WORD.len();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if text[..start].ends_with(is_word) || !rest.trim_start().starts_with('(') {
            continue;
        }
        let mut depth = 0;
        let end = rest.char_indices().find_map(|(at, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            (c == ')' && depth == 0).then_some(at + 1)
        });
        let Some(end) = end else { return };
        let end = from + end;
        // Lines and offsets stay what they are.
        let blank: String = text[start..end].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
        text.replace_range(start..end, &blank);
    }
}

//! Where answers go: standard output, pictures, colors.

use crate::flags::{ColorWhen, Format, PrintFlags};
use seqcst_report::{Answer, TextOptions, render, to_sarif};
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints answers on standard output, one after the other, in the format that the user wants.
pub struct Printer {
    format: Format,
    options: TextOptions,
    /// Whether the last answer took more than a line; none at the start.
    last_was_long: Option<bool>,
    /// SARIF has all of them in one log.
    answers: Vec<Answer>,
    /// Where text goes: standard output can be needed for something else.
    write_text: fn(&str) -> bool,
}

impl Printer {
    /// As the flags say.
    pub fn new(flags: &PrintFlags) -> Printer {
        let color = use_color(flags.color, &io::stdout());
        let options = TextOptions { color, explain: false, pairs: usize::MAX, summary: false };
        Printer {
            format: flags.format,
            options,
            last_was_long: None,
            answers: Vec::new(),
            write_text: write_stdout,
        }
    }

    /// With more to say in text.
    pub fn with(self, change: impl FnOnce(TextOptions) -> TextOptions) -> Printer {
        Printer { options: change(self.options), ..self }
    }

    /// With text on standard error.
    pub fn on_stderr(self, flags: &PrintFlags) -> Printer {
        let write_text = |text: &str| {
            write_stderr(text);
            true
        };
        let color = use_color(flags.color, &io::stderr());
        Printer { write_text, options: TextOptions { color, ..self.options }, ..self }
    }

    /// Prints an answer. False if nobody listens any more.
    pub fn print(&mut self, answer: Answer) -> bool {
        match self.format {
            Format::Json => write_stdout(&format!("{}\n", answer.to_json())),
            Format::Sarif => {
                self.answers.push(answer);
                true
            }
            Format::Text => {
                let text = render(&answer, self.options);
                let long = text.lines().count() > 1;
                // An empty line around everything that takes more than a line.
                let apart = self.last_was_long.replace(long).is_some_and(|before| before || long);
                (self.write_text)(&format!("{}{text}", if apart { "\n" } else { "" }))
            }
        }
    }

    /// Prints what is left.
    pub fn finish(self) {
        if self.format == Format::Sarif {
            write_stdout(&to_sarif(&self.answers));
        }
    }
}

/// Whether an answer got lost: the disk was full, say.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Prints an answer. False if it cannot be written: nobody listens any more (a closed pipe), which is no error, or else it is
/// said, once, and [`is_lost`].
pub fn write_stdout(text: &str) -> bool {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = &written
        && error.kind() != io::ErrorKind::BrokenPipe
        && !IS_LOST.swap(true, Ordering::Relaxed)
    {
        write_stderr(&format!("error: the answer cannot be written to standard output: {error}\n"));
    }
    written.is_ok()
}

/// Whether an answer could not be written, for another reason than that nobody listens.
pub fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Prints a message on standard error, as far as that is possible.
pub fn write_stderr(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Whether to use colors on a stream.
pub fn use_color(when: ColorWhen, stream: &impl IsTerminal) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => no_color().is_none() && stream.is_terminal() && !is_dumb(),
    }
}

/// `NO_COLOR`, if it is set to anything (see no-color.org).
fn no_color() -> Option<OsString> {
    std::env::var_os("NO_COLOR").filter(|value| !value.is_empty())
}

/// Whether the terminal can do nothing but print.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// A file to be written as a whole or not at all.
pub struct Target {
    /// As the user named it.
    pub name: PathBuf,
    /// Behind symbolic links.
    path: PathBuf,
}

impl Target {
    /// Looks early whether the file can be written, so that a long search is not for nothing. Nothing is created.
    pub fn new(name: &Path) -> Result<Target, String> {
        let bad = |why: &str| Err(format!("{}: error: {why}\n", name.display()));
        let path = name.canonicalize().unwrap_or_else(|_| name.to_owned());
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return bad("cannot be written: this is a directory"),
            Ok(metadata) if !metadata.is_file() => {
                return bad("cannot be written: this is not a regular file");
            }
            _ => {}
        }
        if path.file_name().is_none() {
            return bad("cannot be written: this is no file name");
        }
        if !folder(&path).is_dir() {
            return bad("cannot be written: there is no such directory");
        }
        Ok(Target { name: name.to_owned(), path })
    }

    /// Whether both are the same file.
    pub fn is(&self, other: &Path) -> bool {
        let full = |path: &Path| Some(folder(path).canonicalize().ok()?.join(path.file_name()?));
        let other = other.canonicalize().unwrap_or_else(|_| other.to_owned());
        full(&self.path).is_some_and(|path| Some(path) == full(&other))
    }

    /// Whether both are the same file.
    pub fn same(&self, other: &Target) -> bool {
        self.is(&other.path)
    }

    /// Writes the file: beside it first, then in its place.
    pub fn write(&self, text: &str) -> Result<(), String> {
        let mut beside = OsString::from(".");
        beside.push(self.path.file_name().unwrap_or_default());
        beside.push(format!(".{}.tmp", std::process::id()));
        let beside = folder(&self.path).join(beside);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&beside)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&beside, &self.path));
        written.map_err(|error| {
            let _ = fs::remove_file(&beside);
            format!("{}: error: cannot be written: {error}\n", self.name.display())
        })
    }
}

/// The directory that a file is in.
fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

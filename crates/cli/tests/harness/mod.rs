//! What all tests of the command line share: a directory for each test, and what came of a command.

#![allow(dead_code)] // Each test binary uses its own part.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of its own for each test, gone with it.
pub struct Folder {
    path: PathBuf,
    _guard: tempfile::TempDir,
}

impl Folder {
    /// An empty one, with the test's name in its path.
    pub fn new(test: &str) -> Folder {
        let guard = tempfile::Builder::new().prefix(&format!("seqcst-{test}-")).tempdir();
        let guard = guard.expect("a temporary directory");
        Folder { path: guard.path().canonicalize().expect("the same directory"), _guard: guard }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file, and the directories it is in; gives its path.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory can be made");
        std::fs::write(&path, text).expect("a file can be written");
        path
    }

    /// The same directory with this file.
    #[must_use]
    pub fn with(self, name: &str, text: impl AsRef<[u8]>) -> Folder {
        self.write(name, text);
        self
    }

    /// What is in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path).expect("a temporary directory");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// `seqcst` in this directory, without the settings of whoever runs the tests.
    pub fn seqcst_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seqcst"));
        command.current_dir(&self.path).env_remove("NO_COLOR").env_remove("SEQCST_OPTIONS");
        command
    }
}

/// What came of a command.
pub struct Run(pub Output);

impl Run {
    /// The exit code.
    pub fn code(&self) -> i32 {
        self.0.status.code().expect("it ended by itself")
    }

    /// What it printed as its answer.
    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).expect("UTF-8")
    }

    /// What else it printed.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }
}

/// A directory for one test that stays behind, to be looked at.
pub fn scratch(name: &str) -> PathBuf {
    let binary = std::env::current_exe().ok().and_then(|path| Some(path.file_stem()?.to_owned()));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(binary.unwrap_or_default()).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory can be made");
    path
}

/// Writes a file; gives its path as commands take it.
pub fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file can be written");
    path.display().to_string()
}

/// What a command printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

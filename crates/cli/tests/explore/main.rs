//! `seqcst explore`, run as users run it.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../schema/mod.rs"]
mod schema;

mod agreement;
mod bad_input;
#[path = "../../../check/tests/common/mod.rs"]
mod common;
#[path = "../random_c/crew.rs"]
mod crew;
mod faults;
mod limits;
mod models;
mod programs;
mod replay;
mod threads;
#[path = "../random_c/translate.rs"]
#[allow(dead_code)] // `random_c` uses the rest
mod translate;

use harness::{Folder, Run};
use serde_json::Value;
use std::path::{Path, PathBuf};

impl Folder {
    /// Compiles a C file by `seqcst cc`; gives the program's name.
    #[track_caller]
    fn compile(&self, source: &Path, flags: &[&str]) -> String {
        let name = format!("./{}", source.file_stem().unwrap_or_default().display());
        let mut command = self.seqcst_command();
        command.args(["cc", "-O1", "-g", "-std=gnu17", "-pthread"]).args(flags);
        command.arg(source).args(["-o", &name]).env("SEQCST_CC", "gcc");
        let run = Run(command.output().expect("seqcst runs"));
        assert_eq!(run.code(), 0, "{}", run.stderr());
        name
    }

    /// Compiles a program of the corpus.
    #[track_caller]
    fn corpus(&self, name: &str) -> String {
        self.compile(&root().join("corpus/c").join(name), &[])
    }

    /// `seqcst explore ARGS…` in this directory.
    fn explore(&self, args: &[&str]) -> Run {
        Run(self.seqcst_command().arg("explore").args(args).output().expect("seqcst runs"))
    }

    /// The same, with the answer as JSON.
    #[track_caller]
    fn answer(&self, args: &[&str]) -> Value {
        let run = self.explore(&[&["--format", "json"], args].concat());
        assert!(!run.stdout().is_empty(), "{args:?}: no answer but {}", run.stderr());
        schema::answer(&run.stdout())
    }

    /// Executes the replay command of an answer.
    #[track_caller]
    fn again(&self, answer: &Value) -> Value {
        // A tape with choices is quoted for the shell.
        let words = answer["replay"].as_str().expect("a command").split(' ');
        let words: Vec<&str> = words.map(|word| word.trim_matches('\'')).collect();
        assert_eq!(words[..2], ["seqcst", "explore"]);
        self.answer(&words[2..])
    }
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// A number in an answer.
fn number(answer: &Value, name: &str) -> u64 {
    answer[name].as_u64().unwrap_or_else(|| panic!("no {name} in {answer}"))
}

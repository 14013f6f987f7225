//! The workspace, and cargo run in it. The target directory is cargo's business: `CARGO_TARGET_DIR` is honoured.

use crate::Outcome;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The workspace's directory.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The cargo that runs this, in the workspace.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    command
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", show(command))),
        Err(error) => Err(format!("{}: {error}", show(command))),
    }
}

/// The command as one would type it.
pub fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Something that cargo built and that can be run.
pub struct Executable {
    /// The file.
    pub path: PathBuf,
    /// The package's name.
    pub package: String,
    /// The package's directory.
    pub folder: PathBuf,
    /// The target's name: of a library, a binary, an integration test.
    pub target: String,
    /// Whether it runs tests.
    pub is_test: bool,
}

/// Runs a building command of cargo; gives the executables it built.
pub fn build(args: &[&str]) -> Outcome<Vec<Executable>> {
    let mut command = cargo(args);
    command.arg("--message-format=json-render-diagnostics");
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("{}: {}", show(&command), output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    Ok(messages.lines().filter_map(|line| executable(&serde_json::from_str(line).ok()?)).collect())
}

fn executable(message: &Value) -> Option<Executable> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    Some(Executable {
        path: text(&message["executable"])?.into(),
        package: package(message["package_id"].as_str()?, &folder),
        folder,
        target: text(&message["target"]["name"])?,
        is_test: message["profile"]["test"].as_bool()?,
    })
}

/// The name in a package id, `path+file:///…/crates/cli#seqcst@0.1.0`; without a name it is the directory's.
fn package(id: &str, folder: &Path) -> String {
    let (_, fragment) = id.rsplit_once('#').unwrap_or_default();
    match fragment.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

/// Builds the tool with optimisations, or without for a quick look; gives the executable.
pub fn seqcst(release: bool) -> Outcome<PathBuf> {
    let args = ["build", "--quiet", "--package", "seqcst-cli", "--bin", "seqcst", "--release"];
    let built = build(if release { &args } else { &args[..args.len() - 1] })?;
    let tool = built.into_iter().find(|executable| executable.target == "seqcst");
    tool.map(|tool| tool.path).ok_or_else(|| "cargo built no `seqcst`".to_owned())
}

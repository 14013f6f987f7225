//! `cargo seqcst`: cargo, with everything that it compiles for the program instrumented.
//!
//! * [`settings`]: the environment in which cargo does that, and how the user's own settings stay in force;
//! * [`config`]: the little that must be known of cargo's configuration files;
//! * [`link`]: the linker that rustc calls, which adds the runtime;
//! * [`slow_paths`]: functions of the standard library that take locks out of sight, and how they are watched.
//!
//! cargo takes this process over: output, signals and exit code are its own. Build scripts and procedural macros are
//! compiled for the host and stay as they are.

mod config;
pub mod link;
mod settings;
mod slow_paths;

use crate::compile::{runtime, show};
use crate::output;
use settings::Settings;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The only target there is a runtime for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What the user said to us, and what is for cargo.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    atomics_only: bool,
    verbose: bool,
    help: bool,
    cargo: Vec<OsString>,
}

/// Becomes cargo. Comes back only if that fails, with the reason, or with nothing after `--help`.
pub fn run(args: Vec<OsString>, help: &str) -> Option<String> {
    let request = match Request::new(args) {
        Ok(request) => request,
        Err(message) => return Some(message),
    };
    if request.help || request.cargo.is_empty() {
        output::write_stdout(help);
        return None;
    }
    let mut command = match command(&request) {
        Ok(command) => command,
        Err(message) => return Some(message),
    };
    if request.verbose {
        let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let set =
            set.map(|(name, value)| format!("{}='{}' ", name.to_string_lossy(), value.to_string_lossy()));
        output::write_stderr(&format!("seqcst: {}{}\n", set.collect::<String>(), show(&command)));
    }
    let error = command.exec();
    Some(format!("cargo: {error}"))
}

impl Request {
    fn new(args: Vec<OsString>) -> Result<Request, String> {
        let mut request = Request::default();
        // cargo calls `cargo-seqcst seqcst ARGS…`.
        let mut args = args.into_iter().skip_while(|word| word == "seqcst").peekable();
        while let Some(word) = args.next_if(|word| word.to_string_lossy().starts_with('-')) {
            match word.to_str().unwrap_or_default() {
                "--atomics-only" => request.atomics_only = true,
                "--verbose" | "-v" => request.verbose = true,
                "--help" | "-h" => request.help = true,
                other => {
                    return Err(format!(
                        "`{other}` is no flag of `cargo seqcst`: flags of cargo stand after its command"
                    ));
                }
            }
        }
        request.cargo = args.collect();
        Ok(request)
    }

    /// The value of a flag of cargo, up to the `--` that ends them.
    fn flag(&self, name: &str) -> Option<String> {
        let words: Vec<_> = self.cargo.iter().map(|word| word.to_string_lossy()).collect();
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words[..end].iter().enumerate().find_map(|(at, word)| match word.strip_prefix(name)? {
            "" => words[..end].get(at + 1).map(ToString::to_string),
            rest => rest.strip_prefix('=').map(str::to_owned),
        })
    }
}

fn command(request: &Request) -> Result<Command, String> {
    if let Some(target) = request.flag("--target").filter(|target| target != TARGET) {
        return Err(format!("--target {target}: seqcst instruments programs for {TARGET} only"));
    }
    if std::env::var_os("SEQCST_SLOW_PATHS").is_some() {
        // Called by something that `cargo seqcst` runs: everything is set already.
        let mut command = cargo();
        command.args(&request.cargo);
        return Ok(command);
    }
    let files = runtime::files()?;
    let slow_paths = slow_paths::prepare(&files)?;
    let settings = Settings {
        atomics_only: request.atomics_only,
        profile: request.flag("--profile"),
        target_folder: target_folder(request)?.join("seqcst"),
        slow_paths,
        configuration: config::read(),
    };
    let mut command = cargo();
    command.args(&request.cargo);
    for (name, value) in settings.environment(|name| std::env::var_os(name))? {
        command.env(name, value);
    }
    Ok(command)
}

/// The cargo that called us, or the usual one.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The project's own target directory, as cargo sees it.
fn target_folder(request: &Request) -> Result<PathBuf, String> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]).stderr(Stdio::inherit());
    if let Some(manifest) = request.flag("--manifest-path") {
        command.args(["--manifest-path", &manifest]);
    }
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    let metadata: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
    let folder = metadata.as_ref().and_then(|metadata| metadata["target_directory"].as_str());
    folder.map(PathBuf::from).ok_or_else(|| "cargo does not say where its target directory is".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Result<Request, String> {
        Request::new(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn our_flags_stand_before_the_command() {
        let request = request("seqcst --atomics-only test --release -- --verbose").expect("a good line");
        assert!(request.atomics_only && !request.verbose);
        assert_eq!(request.cargo, ["test", "--release", "--", "--verbose"]);
        assert!(super::tests::request("--release test").is_err());
    }

    #[test]
    fn flags_of_cargo() {
        let request = request("test --target x --profile=fast -- --manifest-path y").expect("a good line");
        assert_eq!(request.flag("--target").as_deref(), Some("x"));
        assert_eq!(request.flag("--profile").as_deref(), Some("fast"));
        assert_eq!(request.flag("--manifest-path"), None);
    }
}

//! `cargo xtask setup`: installs what the project needs from the machine ([`requirements`](crate::requirements)). Every other
//! chore asks for what it needs before it begins: what is missing is installed, or named.

use crate::Outcome;
use crate::cargo::{self, cargo};
use crate::requirements::{Chore, Source, TOOLS, Tool, version};
use std::process::Command;

/// Sees to it that all is here that a chore needs.
pub fn require(chore: Chore) -> Outcome {
    let mut apt = Apt::default();
    let mut missing = Vec::new();
    for tool in TOOLS.iter().filter(|tool| tool.is_needed(chore)) {
        if tool.version().is_some() {
            continue;
        }
        println!("{} is missing, which `cargo xtask {}` needs: {}", tool.name, chore.name(), tool.advice());
        if !apt.provide(tool) {
            missing.push(tool);
        }
    }
    for tool in TOOLS.iter().filter(|tool| tool.is_useful(chore) && tool.version().is_none()) {
        println!("{} is missing: something is left out; {}", tool.name, tool.advice());
    }
    if missing.is_empty() { Ok(()) } else { Err(by_hand(&chore.name(), &missing)) }
}

/// Checks every tool, installs what can be installed, then fetches the crates that the project depends on.
pub fn run() -> Outcome {
    let mut apt = Apt::default();
    let mut missing = Vec::new();
    for tool in &TOOLS {
        let found = tool.version();
        println!("{:<16} {:<36} {}", tool.name, tool.why, found.as_deref().unwrap_or("missing"));
        if found.is_some() || apt.provide(tool) {
            continue;
        }
        if tool.is_essential() {
            missing.push(tool);
        } else {
            let chores = tool.chores();
            let without =
                if chores.is_empty() { "some tests are skipped".to_owned() } else { format!("no {chores}") };
            println!("  without it: {without}; {}", tool.advice());
        }
    }
    if !missing.is_empty() {
        return Err(by_hand("this project", &missing));
    }
    cargo::run(&mut cargo(&["fetch", "--locked"]))?;
    println!("\nready: try `cargo xtask demo`");
    Ok(())
}

fn by_hand(what: &str, missing: &[&Tool]) -> String {
    let advice: Vec<String> =
        missing.iter().map(|tool| format!("{}: {}", tool.name, tool.advice())).collect();
    format!("{what} needs what could not be installed here; please do so by hand:\n  {}", advice.join("\n  "))
}

/// Installs things.
#[derive(Default)]
struct Apt {
    /// Is the list of Debian's packages a new one?
    is_updated: bool,
}

impl Apt {
    /// Installs a tool; whether it works then.
    fn provide(&mut self, tool: &Tool) -> bool {
        self.install(&tool.from).is_ok() && tool.version().is_some()
    }

    fn install(&mut self, from: &Source) -> Outcome {
        match from {
            Source::Rustup => Err("not installed here".to_owned()),
            Source::Component(component) => {
                cargo::run(Command::new("rustup").args(["component", "add", component]))
            }
            Source::Cargo(name) => cargo::run(&mut cargo(&["install", "--locked", name])),
            Source::Apt(packages) => {
                let packages: Vec<&str> = packages.split(' ').collect();
                if !self.is_updated {
                    apt(&["update", "-q"])?;
                    self.is_updated = true;
                }
                apt(&[&["install", "-q", "-y", "--no-install-recommends"], &packages[..]].concat())
            }
        }
    }
}

fn apt(args: &[&str]) -> Outcome {
    let root = version(&["id", "-u"]).as_deref() == Some("0");
    let mut command = Command::new(if root { "apt-get" } else { "sudo" });
    // Without a password or not at all: a script must not wait for one.
    command.args(if root { &[][..] } else { &["-n", "apt-get"] });
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    cargo::run(&mut command)
}

//! `cargo xtask setup`: what the project needs from the machine. The only chore that installs anything, with `soak`
//! (cargo-fuzz); everything else runs from what is here.

use crate::Outcome;
use crate::cargo::{self, cargo};
use std::process::{Command, Stdio};

/// A program that the project calls.
struct Tool {
    /// Command that shows it is there.
    probe: &'static [&'static str],
    /// What it is needed for.
    why: &'static str,
    /// What brings it.
    from: Source,
}

enum Source {
    /// Rust itself: not ours to install.
    Rustup,
    /// A component of the Rust toolchain.
    Component(&'static str),
    /// A package of Debian and its relatives.
    Apt(&'static str),
}

/// Everything that is needed. Drawings need nothing: they are written as SVG directly.
const TOOLS: [Tool; 5] = [
    Tool { probe: &["rustc", "--version"], why: "compiles the project", from: Source::Rustup },
    Tool { probe: &["cargo", "--version"], why: "builds the project", from: Source::Rustup },
    Tool {
        probe: &["cargo", "fmt", "--version"],
        why: "checks the layout of code",
        from: Source::Component("rustfmt"),
    },
    Tool {
        probe: &["cargo", "clippy", "--version"],
        why: "checks the code",
        from: Source::Component("clippy"),
    },
    Tool { probe: &["gcc", "--version"], why: "links Rust programs", from: Source::Apt("gcc libc6-dev") },
];

/// Checks every tool, installs what can be installed, then fetches the crates that the project depends on.
pub fn run() -> Outcome {
    let mut missing = Vec::new();
    for tool in &TOOLS {
        let found = version(tool.probe);
        println!("{:<14} {:<28} {}", name(tool), tool.why, found.as_deref().unwrap_or("missing"));
        if found.is_none() && (install(&tool.from).is_err() || version(tool.probe).is_none()) {
            missing.push(format!("{}: {}", name(tool), advice(&tool.from)));
        }
    }
    if !missing.is_empty() {
        return Err(format!("please install by hand:\n  {}", missing.join("\n  ")));
    }
    cargo::run(&mut cargo(&["fetch", "--locked"]))?;
    println!("\nready: try `cargo xtask demo`");
    Ok(())
}

fn name(tool: &Tool) -> String {
    let words = &tool.probe[..tool.probe.len() - 1];
    words.join(" ")
}

/// The first line of what the probe prints.
fn version(probe: &[&str]) -> Option<String> {
    let output = Command::new(probe[0]).args(&probe[1..]).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

fn install(from: &Source) -> Outcome {
    match from {
        Source::Rustup => Err("not installed here".to_owned()),
        Source::Component(component) => {
            cargo::run(Command::new("rustup").args(["component", "add", component]))
        }
        Source::Apt(packages) => {
            let packages: Vec<&str> = packages.split(' ').collect();
            let root = version(&["id", "-u"]).as_deref() == Some("0");
            let apt = |args: &[&str]| {
                let mut command = Command::new(if root { "apt-get" } else { "sudo" });
                // Without a password or not at all: a script must not wait for one.
                command.args(if root { &[][..] } else { &["-n", "apt-get"] });
                command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
                cargo::run(&mut command)
            };
            apt(&["update", "-q"])?;
            apt(&[&["install", "-q", "-y", "--no-install-recommends"], &packages[..]].concat())
        }
    }
}

fn advice(from: &Source) -> String {
    match from {
        Source::Rustup => "see https://rustup.rs".to_owned(),
        Source::Component(component) => format!("rustup component add {component}"),
        Source::Apt(packages) => format!("apt-get install {packages} (or what your system calls them)"),
    }
}

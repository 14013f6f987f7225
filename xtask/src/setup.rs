//! `cargo xtask setup`: what the project needs from the machine. `demo` and `test` call it if something is missing; besides it
//! only `soak` installs anything (cargo-fuzz).

use crate::Outcome;
use crate::cargo::{self, cargo};
use std::process::{Command, Stdio};

/// A program that the project calls.
struct Tool {
    /// What it is called here.
    name: &'static str,
    /// Commands of which one shows that it is there.
    probes: &'static [&'static [&'static str]],
    /// What it is needed for.
    why: &'static str,
    /// What brings it.
    from: Source,
    /// Whether nothing works without it.
    needed: bool,
}

enum Source {
    /// Rust itself: not ours to install.
    Rustup,
    /// A component of the Rust toolchain.
    Component(&'static str),
    /// A package of Debian and its relatives.
    Apt(&'static str),
}

impl Tool {
    const fn new(
        name: &'static str,
        probes: &'static [&'static [&'static str]],
        why: &'static str,
        from: Source,
    ) -> Tool {
        Tool { name, probes, why, from, needed: true }
    }

    const fn optional(self) -> Tool {
        Tool { needed: false, ..self }
    }
}

/// Everything that is called. Drawings need nothing: they are written as SVG directly.
const TOOLS: [Tool; 16] = [
    Tool::new("rustc", &[&["rustc", "--version"]], "compiles the project", Source::Rustup),
    Tool::new("cargo", &[&["cargo", "--version"]], "builds the project", Source::Rustup),
    Tool::new(
        "cargo fmt",
        &[&["cargo", "fmt", "--version"]],
        "checks the layout of code",
        Source::Component("rustfmt"),
    ),
    Tool::new(
        "cargo clippy",
        &[&["cargo", "clippy", "--version"]],
        "checks the code",
        Source::Component("clippy"),
    ),
    Tool::new(
        "gcc",
        &[&["gcc", "--version"]],
        "links, compiles for `seqcst cc`",
        Source::Apt("gcc libc6-dev"),
    ),
    Tool::new("objcopy", &[&["objcopy", "--version"]], "makes the runtime object", Source::Apt("binutils")),
    Tool::new("z3", &[&["z3", "--version"]], "proves for `seqcst library`", Source::Apt("z3")),
    Tool::new("g++", &[&["g++", "--version"]], "compiles for `seqcst c++`", Source::Apt("g++")).optional(),
    Tool::new(
        "clang",
        &[
            &["clang", "--version"],
            &["clang-19", "--version"],
            &["clang-16", "--version"],
            &["clang-14", "--version"],
        ],
        "compiles for `seqcst cc`",
        Source::Apt("clang"),
    )
    .optional(),
    Tool::new("make", &[&["make", "--version"]], "tests of build systems", Source::Apt("make")).optional(),
    Tool::new("cmake", &[&["cmake", "--version"]], "tests of build systems", Source::Apt("cmake")).optional(),
    Tool::new("autoconf", &[&["autoconf", "--version"]], "tests of build systems", Source::Apt("autoconf"))
        .optional(),
    Tool::new("clang 19", &[&["clang-19", "--version"]], "tests of `seqcst port`", Source::Apt("clang-19"))
        .optional(),
    Tool::new("opt 19", &[&["opt-19", "--version"]], "tests of `seqcst port`", Source::Apt("llvm-19"))
        .optional(),
    Tool::new(
        "ARMv8 headers",
        &[&["ls", "/usr/aarch64-linux-gnu/include/pthread.h"]],
        "C for ARMv8, `seqcst port`",
        Source::Apt("libc6-dev-arm64-cross"),
    )
    .optional(),
    Tool::new(
        "ARMv7 headers",
        &[&["ls", "/usr/arm-linux-gnueabihf/include/pthread.h"]],
        "C for ARMv7, `seqcst port`",
        Source::Apt("libc6-dev-armhf-cross"),
    )
    .optional(),
];

/// Runs [`run`] unless everything that is needed is here already.
pub fn ensure() -> Outcome {
    match TOOLS.iter().find(|tool| tool.needed && tool.version().is_none()) {
        Some(tool) => {
            println!("{} is missing: `cargo xtask setup`", tool.name);
            run()
        }
        None => Ok(()),
    }
}

/// Checks every tool, installs what can be installed, then fetches the crates that the project depends on.
pub fn run() -> Outcome {
    let mut missing = Vec::new();
    let mut is_updated = false;
    for tool in &TOOLS {
        let found = tool.version();
        println!("{:<14} {:<32} {}", tool.name, tool.why, found.as_deref().unwrap_or("missing"));
        if found.is_some() || (install(&tool.from, &mut is_updated).is_ok() && tool.version().is_some()) {
            continue;
        }
        let advice = format!("{}: {}", tool.name, advice(&tool.from));
        if tool.needed {
            missing.push(advice);
        } else {
            println!("  without it some tests are skipped; {advice}");
        }
    }
    if !missing.is_empty() {
        return Err(format!("please install by hand:\n  {}", missing.join("\n  ")));
    }
    cargo::run(&mut cargo(&["fetch", "--locked"]))?;
    println!("\nready: try `cargo xtask demo`");
    Ok(())
}

impl Tool {
    /// The first line of what the first probe that works prints.
    fn version(&self) -> Option<String> {
        self.probes.iter().find_map(|probe| version(probe))
    }
}

/// The first line of what the probe prints.
fn version(probe: &[&str]) -> Option<String> {
    let output = Command::new(probe[0]).args(&probe[1..]).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

/// `is_updated`: is the list of Debian's packages a new one?
fn install(from: &Source, is_updated: &mut bool) -> Outcome {
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
            if !*is_updated {
                apt(&["update", "-q"])?;
                *is_updated = true;
            }
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

//! What the project calls, in one table: what for, how to see whether it is there, and where it comes from.

use Chore::{Always, Bench, Ci, Demo, Readme, Soak, Studies, Test};
use std::process::{Command, Stdio};

/// A program, or a part of one.
pub struct Tool {
    /// What it is called here.
    pub name: &'static str,
    /// Commands of which one shows that it is there.
    probes: &'static [&'static [&'static str]],
    /// What it is needed for, in words.
    pub why: &'static str,
    /// What brings it.
    pub from: Source,
    /// The chores that can't do without it.
    needed: &'static [Chore],
    /// Those that leave something out without it.
    useful: &'static [Chore],
}

/// Where something comes from.
pub enum Source {
    /// Rust itself: not ours to install.
    Rustup,
    /// A component of the Rust toolchain.
    Component(&'static str),
    /// A package of Debian and its relatives.
    Apt(&'static str),
    /// A crate with a program in it.
    Cargo(&'static str),
}

/// What `cargo xtask` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chore {
    /// Whatever it is: the tool is built.
    Always,
    /// `.ci/run`
    Ci,
    /// `demo`
    Demo,
    /// `test`
    Test,
    /// `bench`, and which
    Bench(&'static str),
    /// `studies`
    Studies,
    /// `soak`
    Soak,
    /// `readme`
    Readme,
}

impl Chore {
    /// As one calls it.
    pub fn name(self) -> String {
        match self {
            Always => "everything".to_owned(),
            Ci => ".ci/run".to_owned(),
            Demo => "demo".to_owned(),
            Test => "test".to_owned(),
            Bench(which) => format!("bench {which}"),
            Studies => "studies".to_owned(),
            Soak => "soak".to_owned(),
            Readme => "readme".to_owned(),
        }
    }
}

const fn tool(
    name: &'static str,
    probes: &'static [&'static [&'static str]],
    why: &'static str,
    from: Source,
    needed: &'static [Chore],
    useful: &'static [Chore],
) -> Tool {
    Tool { name, probes, why, from, needed, useful }
}

/// Links an empty program, of a language, with what stands in front of `-x`.
macro_rules! links {
    ($command:literal, $language:literal) => {
        &[&[
            "sh",
            "-c",
            concat!("echo 'int main() { return 0; }' | ", $command, " -x ", $language, " - -o /dev/null"),
        ]]
    };
}

/// Everything that is called. Drawings need nothing: they are written as SVG directly.
pub const TOOLS: [Tool; 29] = [
    tool("rustc", &[&["rustc", "--version"]], "compiles the project", Source::Rustup, &[Always], &[]),
    tool("cargo", &[&["cargo", "--version"]], "builds the project", Source::Rustup, &[Always], &[]),
    tool("gcc", &[&["gcc", "--version"]], "links, compiles C", Source::Apt("gcc libc6-dev"), &[Always], &[]),
    tool(
        "objcopy",
        &[&["objcopy", "--version"]],
        "makes the runtime object",
        Source::Apt("binutils"),
        &[Always],
        &[],
    ),
    tool(
        "git",
        &[&["git", "--version"]],
        "says what was measured",
        Source::Apt("git"),
        &[Soak],
        &[
            Bench("check"),
            Bench("run"),
            Bench("explore"),
            Bench("models"),
            Bench("library"),
            Bench("port"),
            Studies,
        ],
    ),
    tool(
        "cargo fmt",
        &[&["cargo", "fmt", "--version"]],
        "checks the layout of code",
        Source::Component("rustfmt"),
        &[Ci],
        &[],
    ),
    tool(
        "cargo clippy",
        &[&["cargo", "clippy", "--version"]],
        "checks the code",
        Source::Component("clippy"),
        &[Ci],
        &[],
    ),
    tool(
        "z3",
        &[&["z3", "--version"]],
        "proves for `seqcst library`",
        Source::Apt("z3"),
        &[Demo, Test, Bench("library"), Soak, Readme],
        &[],
    ),
    tool(
        "g++",
        &[&["g++", "--version"]],
        "compiles for `seqcst c++`",
        Source::Apt("g++"),
        &[Studies, Bench("run"), Soak],
        &[Test],
    ),
    tool(
        "clang",
        &[
            &["clang", "--version"],
            &["clang-19", "--version"],
            &["clang-16", "--version"],
            &["clang-14", "--version"],
        ],
        "compiles for `seqcst cc` and `port`",
        Source::Apt("clang"),
        &[Bench("port"), Readme],
        &[Test],
    ),
    tool("make", &[&["make", "--version"]], "tests of build systems", Source::Apt("make"), &[], &[Test]),
    tool("cmake", &[&["cmake", "--version"]], "tests of build systems", Source::Apt("cmake"), &[], &[Test]),
    tool(
        "autoconf",
        &[&["autoconf", "--version"]],
        "tests of build systems",
        Source::Apt("autoconf"),
        &[],
        &[Test],
    ),
    tool(
        "clang 19",
        &[&["clang-19", "--version"]],
        "tests of `port`, measurements",
        Source::Apt("clang-19"),
        &[Bench("run"), Soak],
        &[Test],
    ),
    tool(
        "opt 19",
        &[&["opt-19", "--version"]],
        "tests of `seqcst port`",
        Source::Apt("llvm-19"),
        &[],
        &[Test],
    ),
    tool(
        "ARMv8 headers",
        &[&["ls", "/usr/aarch64-linux-gnu/include/pthread.h"]],
        "C for ARMv8, `seqcst port`",
        Source::Apt("libc6-dev-arm64-cross"),
        &[Bench("port"), Readme],
        &[Test],
    ),
    tool(
        "ARMv7 headers",
        &[&["ls", "/usr/arm-linux-gnueabihf/include/pthread.h"]],
        "C for ARMv7, `seqcst port`",
        Source::Apt("libc6-dev-armhf-cross"),
        &[Bench("port"), Readme],
        &[Test],
    ),
    tool(
        "TSan of gcc",
        links!("gcc -fsanitize=thread", "c"),
        "is what we are compared with",
        Source::Apt("gcc libtsan2"),
        &[Bench("run")],
        &[],
    ),
    tool(
        "TSan of g++",
        links!("g++ -fsanitize=thread", "c++"),
        "is what we are compared with",
        Source::Apt("g++ libtsan2"),
        &[Bench("run")],
        &[],
    ),
    tool(
        "TSan of clang 19",
        links!("clang-19 -fsanitize=thread", "c"),
        "is what we are compared with",
        Source::Apt("clang-19 libclang-rt-19-dev"),
        &[Bench("run")],
        &[],
    ),
    tool("patch", &[&["patch", "--version"]], "applies repairs", Source::Apt("patch"), &[Studies], &[Test]),
    tool(
        "curl",
        &[&["curl", "--version"]],
        "fetches sources",
        Source::Apt("curl ca-certificates"),
        &[Studies, Bench("run")],
        &[],
    ),
    tool(
        "tar",
        &[&["tar", "--version"]],
        "unpacks sources",
        Source::Apt("tar"),
        &[Studies, Bench("run")],
        &[],
    ),
    tool(
        "gzip",
        &[&["gzip", "--version"]],
        "unpacks sources",
        Source::Apt("gzip"),
        &[Studies, Bench("run")],
        &[],
    ),
    tool(
        "xz",
        &[&["xz", "--version"]],
        "unpacks sources",
        Source::Apt("xz-utils"),
        &[Studies, Bench("run")],
        &[],
    ),
    tool(
        "bzip2",
        &[&["sh", "-c", "bzip2 --version < /dev/null"]],
        "unpacks sources",
        Source::Apt("bzip2"),
        &[Studies, Bench("run")],
        &[],
    ),
    tool(
        "dpkg-deb",
        &[&["dpkg-deb", "--version"]],
        "unpacks packages",
        Source::Apt("dpkg"),
        &[Studies, Bench("run")],
        &[],
    ),
    tool(
        "timeout",
        &[&["timeout", "--version"]],
        "ends what takes too long",
        Source::Apt("coreutils"),
        &[Studies, Bench("run")],
        &[],
    ),
    tool(
        "cargo-fuzz",
        &[&["cargo", "fuzz", "--version"]],
        "fuzzes the parsers",
        Source::Cargo("cargo-fuzz"),
        &[Soak],
        &[],
    ),
];

impl Tool {
    /// Whether a chore can't do without it.
    pub fn is_needed(&self, chore: Chore) -> bool {
        self.needed.contains(&chore) || self.needed.contains(&Always)
    }

    /// Whether a chore leaves something out without it.
    pub fn is_useful(&self, chore: Chore) -> bool {
        self.useful.contains(&chore)
    }

    /// Whether there is nothing that works without it.
    pub fn is_essential(&self) -> bool {
        [Always, Ci, Test].into_iter().any(|chore| self.is_needed(chore))
    }

    /// The chores that can't do without it, in words.
    pub fn chores(&self) -> String {
        self.needed.iter().map(|chore| chore.name()).collect::<Vec<_>>().join(", ")
    }

    /// The first line of what the first probe that works prints; None: it is not there.
    pub fn version(&self) -> Option<String> {
        self.probes.iter().find_map(|probe| version(probe))
    }

    /// How to get it by hand.
    pub fn advice(&self) -> String {
        match self.from {
            Source::Rustup => "see https://rustup.rs".to_owned(),
            Source::Component(component) => format!("rustup component add {component}"),
            Source::Apt(packages) => format!("apt-get install {packages} (or what your system calls them)"),
            Source::Cargo(name) => format!("cargo install --locked {name}"),
        }
    }
}

/// The first line of what a command prints, if it works.
pub fn version(probe: &[&str]) -> Option<String> {
    let output = Command::new(probe[0]).args(&probe[1..]).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or("there").to_owned())
}

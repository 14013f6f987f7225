//! Libraries in C and C++, and clients for them.

use super::fetch::Source;
use super::record::Study;
use super::reports::{Found, reports};
use crate::Outcome;
use crate::cargo::{root, run as must};
use crate::measure::{Ended, measure};
use crate::table::doing;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a client is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
}

/// A program to compile and run.
pub struct Client {
    /// What it is called.
    pub name: String,
    /// The library and its version.
    pub library: String,
    /// What it is written in.
    pub language: Language,
    /// Its files and those of the library.
    pub sources: Vec<PathBuf>,
    /// For the compiler.
    pub flags: Vec<String>,
    /// For the linker.
    pub libraries: Vec<String>,
    /// For the program.
    pub args: Vec<String>,
}

/// How often a client runs in a study.
const RUNS: usize = 10;

impl Client {
    /// A program in C that needs nothing else.
    pub fn c(name: &str, sources: Vec<PathBuf>) -> Client {
        Client {
            name: name.to_owned(),
            library: String::new(),
            language: Language::C,
            sources,
            flags: Vec::new(),
            libraries: Vec::new(),
            args: Vec::new(),
        }
    }
}

/// All of them; fetches what they need.
pub fn clients() -> Outcome<Vec<Client>> {
    Ok(vec![
        mimalloc("v2")?,
        mimalloc("v3")?,
        concurrency_kit()?,
        userspace_rcu()?,
        concurrentqueue()?,
        boost_lockfree()?,
        chase_lev("chase-lev", "as published by Lê et al."),
        chase_lev("chase-lev-robust", "repaired"),
    ])
}

fn here(path: &str) -> PathBuf {
    root().join("corpus/studies").join(path)
}

fn include(path: &Path) -> String {
    format!("-I{}", path.display())
}

/// The 25 threads and 25 % load of the RSAN paper.
fn mimalloc(version: &str) -> Outcome<Client> {
    let source = Source::crates_io(
        "libmimalloc-sys",
        "0.1.49",
        "6a45a52f43e1c16f667ccfe4dd8c85b7f7c204fd5e3bf46c5b0db9a5c3c0b8e9",
    );
    let library = source.root()?.join("c_src/mimalloc").join(version);
    let number = if version == "v2" { "2.3.2" } else { "3.3.2" };
    Ok(Client {
        library: format!("mimalloc {number} (in crate libmimalloc-sys 0.1.49)"),
        flags: vec![include(&library.join("include"))],
        args: ["25", "25", "10"].map(str::to_owned).to_vec(),
        ..Client::c(&format!("mimalloc-{version}"), vec![here("mimalloc.c"), library.join("src/static.c")])
    })
}

fn concurrency_kit() -> Outcome<Client> {
    let source = Source::debian(
        "c/ck/ck_0.7.1.orig.tar.xz",
        "296a4c803fecd1fb0191f78715c0ec97cc2d9109ed3c2c89b0385d4d2263d9c5",
    );
    let library = source.root()?;
    let sources =
        vec![here("ck.c"), library.join("src/ck_epoch.c"), library.join("src/ck_barrier_centralized.c")];
    Ok(Client {
        library: "Concurrency Kit 0.7.1 (Debian)".to_owned(),
        flags: vec![include(&here("ck")), include(&library.join("include"))],
        ..Client::c("ck", sources)
    })
}

fn userspace_rcu() -> Outcome<Client> {
    let source = Source::debian(
        "libu/liburcu/liburcu_0.13.2.orig.tar.bz2",
        "1213fd9f1b0b74da7de2bb74335b76098db9738fec5d3cdc07c0c524f34fc032",
    );
    let library = source.root()?;
    let parts = ["urcu", "urcu-pointer", "wfcqueue", "wfstack", "lfstack", "rculfqueue", "compat_futex"];
    let mut sources = vec![here("urcu.c")];
    sources.extend(parts.map(|part| library.join(format!("src/{part}.c"))));
    let mut flags = ["-D_GNU_SOURCE", "-DRCU_MB"].map(str::to_owned).to_vec();
    flags.extend(
        [here("urcu"), library.join("include"), library.join("src")].iter().map(|path| include(path)),
    );
    Ok(Client { library: "userspace-RCU 0.13.2 (Debian)".to_owned(), flags, ..Client::c("urcu", sources) })
}

fn concurrentqueue() -> Outcome<Client> {
    let source = Source::debian(
        "c/concurrentqueue/libconcurrentqueue-dev_1.0.3+ds-1_all.deb",
        "bfebbe7028503a59273fdc7a9fbfb6f72d68ca21e4f6ad3f425f0d4a757d81de",
    );
    let headers = source.unpacked()?.join("usr/include/concurrentqueue");
    Ok(Client {
        library: "moodycamel::ConcurrentQueue 1.0.3 (Debian)".to_owned(),
        language: Language::Cxx,
        flags: vec![include(&headers)],
        ..Client::c("concurrentqueue", vec![here("concurrentqueue.cpp")])
    })
}

fn boost_lockfree() -> Outcome<Client> {
    let source = Source::debian(
        "b/boost1.74/libboost1.74-dev_1.74.0+ds1-21_amd64.deb",
        "ba14fe04d7f138f874bd3ab3a20c4fd1e9f654e271449b8f3e48d20f942dbb93",
    );
    let headers = source.unpacked()?.join("usr/include");
    Ok(Client {
        library: "Boost.Lockfree 1.74 (Debian)".to_owned(),
        language: Language::Cxx,
        flags: vec![include(&headers)],
        ..Client::c("boost-lockfree", vec![here("boost-lockfree.cpp")])
    })
}

/// A deque from the corpus.
fn chase_lev(name: &str, version: &str) -> Client {
    Client {
        library: format!("Chase–Lev deque, {version} (corpus/c/{name}.c)"),
        ..Client::c(name, vec![root().join(format!("corpus/c/{name}.c"))])
    }
}

/// Compiles a client and runs it several times; what is found in all runs together counts.
pub fn study(tools: &Path, client: &Client) -> Outcome<Study> {
    doing(&format!("{} …", client.name));
    let folder = super::folder("clients")?;
    let program = folder.join(&client.name);
    let mut compile = Command::new(tools.join("seqcst"));
    compile.arg(if client.language == Language::C { "cc" } else { "c++" });
    compile.args(["-O2", "-g", "-w", "-pthread"]).args(&client.flags).args(&client.sources);
    must(compile.arg("-o").arg(&program).args(&client.libraries))?;
    let mut found = Found::default();
    let mut seconds = 0.0;
    for _ in 0..RUNS {
        let json = folder.join(format!("{}.json", client.name));
        let _ = std::fs::remove_file(&json);
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "300"]).arg(&program).args(&client.args).stderr(Stdio::null());
        command.env("SEQCST_OPTIONS", format!("json={}", json.display()));
        let Ended { code, usage, .. } = measure(&mut command)?;
        if !matches!(code, Some(0 | 66)) {
            return Err(format!("{}: exit code {code:?}", client.name));
        }
        seconds += usage.seconds;
        found.add(&reports(&json)?);
    }
    Ok(Study {
        name: client.name.clone(),
        library: client.library.clone(),
        what: format!("client, {RUNS} runs"),
        seconds,
        found,
    })
}

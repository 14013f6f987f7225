//! `cargo xtask studies`: the sanitizer on code that others wrote, as package registries have it.
//!
//! * [`mod@clients`]: libraries in C and C++, with clients of ours (`corpus/studies`);
//! * [`suites`]: crates, with their own tests, unmodified;
//! * [`bugs`]: versions with known bugs, with drivers of ours (`corpus/bugs`), which must be pointed at;
//! * [`fetch`]: sources, with checksums; [`reports`]: what was found; [`record`]: results, saved for the document.

mod bugs;
mod clients;
mod fetch;
mod record;
mod reports;
mod suites;

pub use clients::{Client, Language, clients};
pub use record::{load, tables};

use crate::bench::{commit, machine};
use crate::cargo::{build, root};
use crate::{Outcome, bad_usage};
use record::Record;
use std::path::{Path, PathBuf};

/// Where everything is kept that is fetched or made, and can be again.
pub fn folder(name: &str) -> Outcome<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = root().join(target).join("studies").join(name);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The directory with `seqcst` and what belongs to it, built with optimisations.
fn tools() -> Outcome<PathBuf> {
    let built = build(&["build", "--quiet", "--release", "--package", "seqcst-cli", "--bins"])?;
    let tool = built.into_iter().find(|executable| executable.target == "seqcst");
    let folder = tool.and_then(|tool| Some(tool.path.parent()?.to_owned()));
    folder.ok_or_else(|| "cargo built no `seqcst`".to_owned())
}

/// Runs `studies`: all of them, or those named.
pub fn run(args: &[&str]) -> Outcome {
    let (mut save_to, mut names) = (None, Vec::new());
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        match arg {
            "--save" => save_to = Some(args.next().ok_or("`--save` needs a file")?),
            name if !name.starts_with('-') => names.push(name),
            other => return bad_usage(&format!("`studies` does not know `{other}`")),
        }
    }
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let tools = tools()?;
    let mut record = Record { machine: machine(), commit: commit(), studies: Vec::new(), bugs: Vec::new() };
    // Saved after each of them: what takes an hour must not be lost because the last one fails.
    let save = |record: &Record| save_to.map_or(Ok(()), |file| record.save(Path::new(file)));
    for client in clients()?.iter().filter(|client| wanted(&client.name)) {
        record.add_study(clients::study(&tools, client)?);
        save(&record)?;
    }
    for suite in suites::SUITES.iter().filter(|suite| wanted(suite.name)) {
        record.add_study(suites::study(&tools, suite)?);
        save(&record)?;
    }
    for bug in bugs::all()?.iter().filter(|bug| wanted("bugs") || wanted(&bug.name)) {
        record.add_bug(bugs::find(&tools, bug)?);
        save(&record)?;
    }
    if record.studies.is_empty() && record.bugs.is_empty() {
        return bad_usage(&format!("there is no study named {}", names.join(" or ")));
    }
    println!("\n{}", tables(&record));
    Ok(())
}

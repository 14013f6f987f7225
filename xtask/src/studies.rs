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
pub use record::{Measured, Row};

use crate::cargo::{build, root};
use crate::{Outcome, saved};
use std::path::PathBuf;

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

/// Which ones.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    save: saved::Save,
    /// Only these; `bugs`: only those with known bugs
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Runs `studies`: all of them, or those named.
pub fn run(options: &Options) -> Outcome {
    let names = &options.names;
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let tools = tools()?;
    let mut result = Measured::here(());
    // Saved after each of them: what takes an hour must not be lost because the last one fails.
    let mut add = |row: Row| {
        row.announce();
        result.rows.push(row);
        result.merge_into(options.save.save.as_deref())
    };
    for client in clients()?.iter().filter(|client| wanted(&client.name)) {
        add(Row::Study(clients::study(&tools, client)?))?;
    }
    for suite in suites::SUITES.iter().filter(|suite| wanted(suite.name)) {
        add(Row::Study(suites::study(&tools, suite)?))?;
    }
    for bug in bugs::all()?.iter().filter(|bug| wanted("bugs") || wanted(&bug.name)) {
        add(Row::Bug(bugs::find(&tools, bug)?))?;
    }
    if result.rows.is_empty() {
        return Err(format!("there is no study named {}", names.join(" or ")));
    }
    println!("\n{}", result.report());
    Ok(())
}

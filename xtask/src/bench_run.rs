//! `cargo xtask bench run`: the sanitizer beside ThreadSanitizer, on the same programs in one run.
//!
//! * [`tools`]: the ways to compile and run a program, from plain to ours;
//! * [`shapes`]: the synthetic programs, all of them one C file with different arguments;
//! * [`rows`]: what was measured;
//! * [`summary`]: geometric means and tables.

mod rows;
mod shapes;
mod summary;
mod tools;

pub use rows::{Measured, Row};

use crate::cargo::{root, seqcst};
use crate::studies::{self, Client};
use crate::table::doing;
use crate::{Outcome, saved};
use rows::{Group, Sample};
use shapes::{Shape, by_locations, synthetic};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tools::Tool;

/// How often each program runs with each tool: the least of each number counts.
const REPEATS: usize = 3;

/// What to measure.
#[derive(clap::Args)]
pub struct Options {
    /// Fewer programs, each of them once
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    save: saved::Save,
    /// Only programs whose name contains this
    #[arg(default_value = "", hide_default_value = true)]
    filter: String,
}

/// Runs `bench run`.
pub fn run(options: &Options) -> Outcome {
    let tools = Tool::all(&seqcst(true)?);
    let mut result = Measured::here(());
    result.rows.extend(synthetic_rows(&tools, options)?);
    result.rows.extend(study_rows(&tools, options)?);
    doing("");
    println!("{}", result.report());
    result.save(options.save.save.as_deref())
}

/// Compiles the synthetic program once with each tool and runs it in all shapes.
fn synthetic_rows(tools: &[Tool], options: &Options) -> Outcome<Vec<Row>> {
    let client = Client::c("synthetic", vec![root().join("xtask/src/bench_run/synthetic.c")]);
    let shapes = synthetic(options.quick).into_iter().map(|shape| (Group::Synthetic, shape));
    let shapes = shapes.chain(by_locations().into_iter().map(|shape| (Group::Locations, shape)));
    let shapes: Vec<(Group, Shape)> =
        shapes.filter(|(_, shape)| shape.name().contains(&options.filter)).collect();
    if shapes.is_empty() {
        return Ok(Vec::new());
    }
    let programs = compiled(&client, tools)?;
    let mut rows = Vec::new();
    for (number, (group, shape)) in shapes.iter().enumerate() {
        doing(&format!("{} of {}: {} …", number + 1, shapes.len(), shape.name()));
        rows.push(measured(&programs, *group, shape.name(), &shape.args(), options));
    }
    Ok(rows)
}

/// The same for the case studies whose clients are C or C++.
fn study_rows(tools: &[Tool], options: &Options) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for client in studies::clients()?.iter().filter(|client| client.name.contains(&options.filter)) {
        doing(&format!("{} …", client.name));
        let programs = compiled(client, tools)?;
        rows.push(measured(&programs, Group::Study, client.name.clone(), &client.args, options));
    }
    Ok(rows)
}

/// A program as each tool compiled it.
fn compiled<'a>(client: &Client, tools: &'a [Tool]) -> Outcome<Vec<(&'a Tool, PathBuf)>> {
    let folder = studies::folder("bench")?;
    let compile = |tool: &'a Tool| {
        doing(&format!("compiling {} with {} …", client.name, tool.name()));
        let program = folder.join(format!("{}-{}", client.name, tool.name()));
        tool.compile(client, &program)?;
        Ok((tool, program))
    };
    tools.iter().map(compile).collect()
}

/// Runs a program in turn with all tools, several times, and keeps the least of each number: the machine may have been busy.
fn measured(
    programs: &[(&Tool, PathBuf)],
    group: Group,
    name: String,
    args: &[String],
    options: &Options,
) -> Row {
    let mut samples: BTreeMap<String, Sample> = BTreeMap::new();
    let mut failed: Vec<&str> = Vec::new();
    for _ in 0..if options.quick { 1 } else { REPEATS } {
        for (tool, program) in programs {
            if failed.contains(&tool.name()) {
                continue;
            }
            match tool.run(program, args) {
                // The others are still worth something.
                Err(why) => {
                    doing("");
                    eprintln!("{name}, {}: {why}", tool.name());
                    failed.push(tool.name());
                }
                Ok(sample) => {
                    let least = samples.entry(tool.name().to_owned()).or_insert_with(|| sample.clone());
                    least.keep_the_least(&sample);
                }
            }
        }
    }
    samples.retain(|name, _| !failed.contains(&name.as_str()));
    Row { group, name, samples }
}

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

pub use crate::saved::load;
pub use summary::report;

use crate::cargo::{root, seqcst};
use crate::studies::{self, Client};
use crate::table::doing;
use crate::{Outcome, bad_usage};
use rows::{Group, Measured, Row, Sample};
use shapes::{Shape, by_locations, synthetic};
use std::path::PathBuf;
use tools::Tool;

/// How often each program runs with each tool: the least of each number counts.
const REPEATS: usize = 3;

struct Settings<'a> {
    quick: bool,
    save_to: Option<&'a str>,
    filter: &'a str,
}

/// Runs `bench run`.
pub fn run(args: &[&str]) -> Outcome {
    let mut settings = Settings { quick: false, save_to: None, filter: "" };
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        match arg {
            "--quick" => settings.quick = true,
            "--save" => settings.save_to = Some(args.next().ok_or("`--save` needs a file")?),
            text if !text.starts_with('-') && settings.filter.is_empty() => settings.filter = text,
            other => return bad_usage(&format!("`bench run` does not know `{other}`")),
        }
    }
    let tools = Tool::installed(&seqcst(true)?)?;
    let mut result = Measured::here();
    result.rows.extend(synthetic_rows(&tools, &settings)?);
    result.rows.extend(study_rows(&tools, &settings)?);
    doing("");
    println!("{}", report(&result));
    result.save(settings.save_to)
}

/// Compiles the synthetic program once with each tool and runs it in all shapes.
fn synthetic_rows(tools: &[Tool], settings: &Settings) -> Outcome<Vec<Row>> {
    let client = Client::c("synthetic", vec![root().join("xtask/src/bench_run/synthetic.c")]);
    let shapes = synthetic(settings.quick).into_iter().map(|shape| (Group::Synthetic, shape));
    let shapes = shapes.chain(by_locations().into_iter().map(|shape| (Group::Locations, shape)));
    let shapes: Vec<(Group, Shape)> =
        shapes.filter(|(_, shape)| shape.name().contains(settings.filter)).collect();
    if shapes.is_empty() {
        return Ok(Vec::new());
    }
    let programs = compiled(&client, tools)?;
    let mut rows = Vec::new();
    for (number, (group, shape)) in shapes.iter().enumerate() {
        doing(&format!("{} of {}: {} …", number + 1, shapes.len(), shape.name()));
        rows.push(measured(&programs, *group, shape.name(), &shape.args(), settings));
    }
    Ok(rows)
}

/// The same for the case studies whose clients are C or C++.
fn study_rows(tools: &[Tool], settings: &Settings) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for client in studies::clients()?.iter().filter(|client| client.name.contains(settings.filter)) {
        doing(&format!("{} …", client.name));
        let programs = compiled(client, tools)?;
        rows.push(measured(&programs, Group::Study, client.name.clone(), &client.args, settings));
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
    settings: &Settings,
) -> Row {
    let mut samples: Vec<(String, Sample)> = Vec::new();
    let mut failed: Vec<&str> = Vec::new();
    for _ in 0..if settings.quick { 1 } else { REPEATS } {
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
                Ok(sample) => match samples.iter_mut().find(|(name, _)| name == tool.name()) {
                    Some((_, least)) => least.keep_the_least(&sample),
                    None => samples.push((tool.name().to_owned(), sample)),
                },
            }
        }
    }
    samples.retain(|(name, _)| !failed.contains(&name.as_str()));
    Row { group, name, samples }
}

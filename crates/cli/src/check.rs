//! `seqcst check`: from files to reports and an exit code.

use crate::Status;
use crate::engine::{self, CheckOptions};
use crate::flags::{CheckFlags, Format};
use crate::input;
use crate::output::{self, Target};
use crate::progress::Line;
use seqcst_report::{Finding, Verdict, render, to_dot, to_json, to_svg};
use std::io;
use std::path::Path;

/// Checks all files, in order; gives the worst of what was found.
pub fn run(flags: &CheckFlags) -> Status {
    let pictures = match Pictures::new(flags) {
        Ok(pictures) => pictures,
        Err(message) => {
            output::complain(&message);
            return Status::BadInput;
        }
    };
    let options = CheckOptions::from(flags);
    let mut printer = Printer { flags, last_was_long: None };
    let mut worst = Status::Holds;
    for file in &flags.files {
        let (status, listens) = check(file, flags, &options, &pictures, &mut printer);
        worst = worst.max(status);
        if !listens {
            break;
        }
    }
    worst
}

/// Checks one file; also says whether anybody still reads the answers.
fn check(
    file: &Path,
    flags: &CheckFlags,
    options: &CheckOptions,
    pictures: &Pictures,
    printer: &mut Printer,
) -> (Status, bool) {
    let input = match input::read(file) {
        Ok(input) => input,
        Err(bad) => {
            output::complain(&bad.render(output::use_color(flags.color, &io::stderr())));
            return (Status::BadInput, true);
        }
    };
    if flags.format == Format::Text {
        output::complain(&input.warnings());
    }
    let line = Line::new(&input.file);
    let finding = engine::check_file(&input, options, &|progress| line.update(progress));
    drop(line);
    let status = match finding.verdict {
        Verdict::Robust => Status::Holds,
        Verdict::GaveUp(_) => Status::GaveUp,
        _ => Status::Violation,
    };
    let listens = printer.print(&finding);
    match pictures.draw(&finding) {
        Ok(()) => (status, listens),
        Err(message) => {
            output::complain(&message);
            (Status::BadInput, listens)
        }
    }
}

/// Prints findings, one after the other.
struct Printer<'a> {
    flags: &'a CheckFlags,
    /// Whether the last finding took more than a line; none at the start.
    last_was_long: Option<bool>,
}

impl Printer<'_> {
    /// False if nobody listens any more.
    fn print(&mut self, finding: &Finding) -> bool {
        let text = match self.flags.format {
            Format::Json => return output::answer(&format!("{}\n", to_json(finding))),
            Format::Text => render(finding, output::use_color(self.flags.color, &io::stdout())),
        };
        let long = text.lines().count() > 1;
        // An empty line around everything that takes more than a line.
        let apart = self.last_was_long.replace(long).is_some_and(|before| before || long);
        output::answer(&format!("{}{text}", if apart { "\n" } else { "" }))
    }
}

/// The files to draw the witness into.
struct Pictures {
    svg: Option<Target>,
    dot: Option<Target>,
    notes: bool,
}

impl Pictures {
    /// Looks whether they can be written, before anything is done.
    fn new(flags: &CheckFlags) -> Result<Pictures, String> {
        let target = |name: Option<&Path>| name.map(Target::new).transpose();
        let pictures = Pictures {
            svg: target(flags.svg.as_deref())?,
            dot: target(flags.dot.as_deref())?,
            notes: flags.format == Format::Text,
        };
        let all: Vec<&Target> = pictures.svg.iter().chain(&pictures.dot).collect();
        if let (Some(picture), 2..) = (all.first(), flags.files.len()) {
            let name = picture.name.display();
            return Err(format!(
                "error: {name} can show the witness of one input: name one FILE, not {}\n",
                flags.files.len()
            ));
        }
        if let [svg, dot] = all[..]
            && svg.same(dot)
        {
            return Err("error: --svg and --dot name the same file\n".to_owned());
        }
        match all.iter().find(|picture| flags.files.iter().any(|file| picture.is(file))) {
            Some(picture) => {
                Err(format!("error: {} is the input: it is not overwritten\n", picture.name.display()))
            }
            None => Ok(pictures),
        }
    }

    fn draw(&self, finding: &Finding) -> Result<(), String> {
        let svg = self.svg.as_ref().map(|target| (target, to_svg(finding)));
        let dot = self.dot.as_ref().map(|target| (target, to_dot(finding)));
        for (target, text) in svg.into_iter().chain(dot) {
            match text {
                Some(text) => target.write(&text)?,
                None if self.notes => {
                    let name = target.name.display();
                    output::complain(&format!("{name}: note: not written, there is no witness to draw\n"));
                }
                None => {}
            }
        }
        Ok(())
    }
}

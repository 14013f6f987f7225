//! Pictures of a witness: where they go, and when they are drawn.

use crate::output::{self, Target};
use seqcst_report::{Answer, to_dot, to_svg};
use std::path::{Path, PathBuf};

/// The files to draw the witness into.
pub struct Pictures {
    svg: Option<Target>,
    dot: Option<Target>,
    notes: bool,
}

impl Pictures {
    /// Looks whether they can be written, before anything is done.
    pub fn new(
        svg: Option<&Path>,
        dot: Option<&Path>,
        notes: bool,
        inputs: &[PathBuf],
    ) -> Result<Pictures, String> {
        let target = |name: Option<&Path>| name.map(Target::new).transpose();
        let pictures = Pictures { svg: target(svg)?, dot: target(dot)?, notes };
        let all: Vec<&Target> = pictures.svg.iter().chain(&pictures.dot).collect();
        if let (Some(picture), 2..) = (all.first(), inputs.len()) {
            let name = picture.name.display();
            return Err(format!(
                "error: {name} can show the witness of one input: name one FILE, not {}\n",
                inputs.len()
            ));
        }
        if let [svg, dot] = all[..]
            && svg.same(dot)
        {
            return Err("error: --svg and --dot name the same file\n".to_owned());
        }
        match all.iter().find(|picture| inputs.iter().any(|file| picture.is(file))) {
            Some(picture) => {
                Err(format!("error: {} is the input: it is not overwritten\n", picture.name.display()))
            }
            None => Ok(pictures),
        }
    }

    /// Draws the witness, if there is one.
    pub fn draw(&self, answer: &Answer) -> Result<(), String> {
        let svg = self.svg.as_ref().map(|target| (target, to_svg(answer)));
        let dot = self.dot.as_ref().map(|target| (target, to_dot(answer)));
        for (target, text) in svg.into_iter().chain(dot) {
            match text {
                Some(text) => target.write(&text)?,
                None if self.notes => {
                    let name = target.name.display();
                    output::write_stderr(&format!(
                        "{name}: note: not written, there is no witness to draw\n"
                    ));
                }
                None => {}
            }
        }
        Ok(())
    }
}

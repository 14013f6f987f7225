//! A client of several libraries: SC fences between calls to different ones, and its repair.

use super::input::{bounds, complaint, read};
use crate::flags::LibraryFlags;
use seqcst_library::compose::fix::{self, Fixed};
use seqcst_library::compose::{Composition, Interface, check, confirm};
use seqcst_library::verify::{Subject, Verified};
use seqcst_report::{Answer, Verdict};
use std::path::Path;

/// A client that was read.
pub struct Client {
    /// Its path, as given.
    pub name: String,
    text: String,
    interfaces: Vec<Interface>,
    composition: Composition,
}

impl Client {
    /// Reads a client of libraries.
    pub fn new(path: &Path, libraries: &[Subject], macros: &[String]) -> Result<Client, String> {
        let (name, text) = read(path)?;
        let text = String::from_utf8(text).map_err(|_| format!("{name}: error: this is not UTF-8\n"))?;
        let interface = |it: &Subject| Interface::new(&it.name, &it.text, macros, &it.library);
        let interfaces = libraries.iter().map(interface).collect::<Result<Vec<_>, _>>();
        let interfaces = interfaces.map_err(|error| complaint(&error))?;
        let composition =
            check(&name, text.as_bytes(), macros, &interfaces).map_err(|error| complaint(&error))?;
        Ok(Client { name, text, interfaces, composition })
    }

    /// What is missing, and the repaired client if that is asked for.
    pub fn answer(
        &self,
        libraries: &[Verified],
        flags: &LibraryFlags,
    ) -> Result<(Answer, Option<Fixed>), String> {
        let sources: Vec<_> = libraries.iter().map(|it| &it.subject.transformed.library).collect();
        let gaps = &self.composition.gaps;
        let tried = bounds(flags).and_then(|bounds| confirm(&sources, gaps, &bounds));
        let fixed = flags
            .fix
            .then(|| fix::fix(&self.name, &self.text, &flags.define, &self.composition, &self.interfaces));
        let fixed = fixed.transpose().map_err(|error| complaint(&error))?;
        let worst = libraries.iter().map(Verified::verdict).max_by_key(|verdict| verdict.status());
        let worst = worst.unwrap_or(Verdict::Robust);
        let answer = self.composition.answer(&self.name, &self.text, worst, tried.as_ref(), fixed.as_ref());
        Ok((answer, fixed))
    }
}

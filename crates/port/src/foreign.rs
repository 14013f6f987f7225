//! Inline assembly that is not for the machine that a program goes to: its author has to write something else there.
//!
//! Of sources, clang's assembler says what it does not know; of code that was compiled for another machine, it is all.

use crate::analysis::{Analysis, Refused};
use crate::ir::code::FunctionId;
use crate::ir::inline::Site;
use crate::ir::lower::is_library;
use crate::ir::module::Callee;
use crate::ir::source;
use crate::machine::Machine;
use crate::program::Place;

/// A piece of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Assembly {
    /// Where it stands in the source, if that is known.
    pub place: Option<Place>,
    /// What is wrong with it, in words.
    pub words: String,
}

/// All that there is in a program.
pub(crate) fn assembly(analysis: &Analysis, to: Machine) -> Vec<Assembly> {
    // What clang says of its own headers is about functions that nobody may call.
    let told = analysis.compilation.refused.iter().filter(|refused| !is_library(&refused.place.file));
    let told = told.map(|Refused { place, why }| Assembly {
        place: Some(place.clone()),
        words: format!("clang can't assemble this for {to} ({why})"),
    });
    let mut all: Vec<Assembly> = told.collect();
    let code = &analysis.code;
    for (number, file) in code.files.iter().enumerate() {
        let Some(machine) = file.machine().filter(|&machine| machine != to) else { continue };
        for (function, content) in file.module.functions.iter().enumerate() {
            let id = FunctionId { file: number as u32, function: function as u32 };
            let blocks = content.blocks.iter().enumerate();
            let instructions = blocks.flat_map(|(block, content)| {
                content.body.iter().enumerate().map(move |(index, instruction)| (block, index, instruction))
            });
            for (block, index, instruction) in instructions {
                let Some(Callee::Assembly(text, _)) = instruction.op.call().map(|call| &call.callee) else {
                    continue;
                };
                let text = text.replace("\\0A", "\n").replace("\\09", " ");
                let Some(first) = text.lines().map(str::trim).find(|line| !line.is_empty()) else { continue };
                let site = Site::Before { function: id, block: block as u32, index: index as u32 };
                let place = source::place(code, site);
                let is_known = |known: &Assembly| match (&known.place, &place) {
                    (Some(known), Some(place)) => (&known.file, known.line) == (&place.file, place.line),
                    _ => false,
                };
                if !all.iter().any(is_known) {
                    let words = format!("this inline assembly is for {machine} (`{first}`)");
                    all.push(Assembly { place, words });
                }
            }
        }
    }
    all
}

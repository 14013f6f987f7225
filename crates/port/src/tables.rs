//! What aliases what, asked once for every two classes of addresses and then looked up.

use crate::bits::Bits;
use crate::program::Aliases;

/// The answers.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    may: Vec<Bits>,
    across: Vec<Bits>,
    must: Vec<Bits>,
    same: Vec<Bits>,
    hidden: Vec<bool>,
}

impl Tables {
    /// Asks about all of these many classes.
    pub fn new(aliases: &dyn Aliases, classes: usize) -> Tables {
        let table = |ask: &dyn Fn(usize, usize) -> bool| {
            let row = |a: usize| {
                let mut row = Bits::new(classes);
                (0..classes).filter(|&b| ask(a, b)).for_each(|b| {
                    row.insert(b);
                });
                row
            };
            (0..classes).map(row).collect()
        };
        Tables {
            may: table(&|a, b| aliases.may(a, b)),
            across: table(&|a, b| aliases.across(a, b)),
            must: table(&|a, b| aliases.must(a, b)),
            same: table(&|a, b| aliases.same(a, b)),
            hidden: (0..classes).map(|class| aliases.hidden(class)).collect(),
        }
    }
}

/// A class that is not in the tables may be anywhere.
fn look(table: &[Bits], a: usize, b: usize, unknown: bool) -> bool {
    if b < table.len() { table.get(a).map_or(unknown, |row| row.contains(b)) } else { unknown }
}

impl Aliases for Tables {
    fn may(&self, a: usize, b: usize) -> bool {
        look(&self.may, a, b, true)
    }

    fn across(&self, a: usize, b: usize) -> bool {
        look(&self.across, a, b, true)
    }

    fn must(&self, a: usize, b: usize) -> bool {
        look(&self.must, a, b, false)
    }

    fn hidden(&self, class: usize) -> bool {
        self.hidden.get(class).copied().unwrap_or(false)
    }

    fn same(&self, a: usize, b: usize) -> bool {
        look(&self.same, a, b, false)
    }
}

//! What attributes of LLVM say a function may touch: `memory(…)`, and the words that older versions have for it.

use super::lexer::{Token, Word};

/// Where a function may touch memory that others can see.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Reach {
    /// Nowhere.
    Nothing,
    /// Behind its arguments.
    Arguments,
    /// Everywhere.
    #[default]
    Anything,
}

/// What a function may touch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limits {
    /// Which memory.
    pub reach: Reach,
    /// Whether it may write.
    pub writes: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { reach: Reach::Anything, writes: true }
    }
}

impl Limits {
    /// It touches no memory.
    pub const NOTHING: Limits = Limits { reach: Reach::Nothing, writes: false };

    /// Both are true.
    pub fn and(self, other: Limits) -> Limits {
        Limits { reach: self.reach.min(other.reach), writes: self.writes && other.writes }
    }

    /// Takes the attributes in these words to heart.
    pub fn read(words: &[Token]) -> Limits {
        let mut limits = Limits::default();
        for (i, token) in words.iter().enumerate() {
            let Word::Plain(name) = token.word else { continue };
            let new = match name {
                "readnone" => Limits::NOTHING,
                "readonly" => Limits { writes: false, ..Limits::default() },
                "argmemonly" | "inaccessiblemem_or_argmemonly" => {
                    Limits { reach: Reach::Arguments, ..Limits::default() }
                }
                "inaccessiblememonly" => Limits::NOTHING,
                "memory" => memory(&words[i + 1..]).unwrap_or_default(),
                _ => continue,
            };
            limits = limits.and(new);
        }
        limits
    }
}

/// `(read, argmem: readwrite, inaccessiblemem: none)`: what holds everywhere, then what holds elsewhere. `None` if there is a
/// word in it that is not known.
fn memory(words: &[Token]) -> Option<Limits> {
    let [Token { word: Word::Sign('('), .. }, rest @ ..] = words else { return None };
    let end = rest.iter().position(|token| token.word == Word::Sign(')'))?;
    // What it may do everywhere, and behind its arguments if that is something else: read, write.
    let mut everywhere = (false, false);
    let mut arguments = None;
    for part in rest[..end].split(|token| token.word == Word::Sign(',')) {
        let (place, access) = match part {
            [Token { word: Word::Plain(access), .. }] => ("", *access),
            [
                Token { word: Word::Plain(place), .. },
                Token { word: Word::Sign(':'), .. },
                Token { word: Word::Plain(access), .. },
            ] => (*place, *access),
            _ => return None,
        };
        let may = match access {
            "none" => (false, false),
            "read" => (true, false),
            "write" => (false, true),
            "readwrite" => (true, true),
            _ => return None,
        };
        match place {
            "" => everywhere = may,
            "argmem" => arguments = Some(may),
            // No other thread can access it: `errno` is the thread's own.
            "inaccessiblemem" | "errnomem" => {}
            _ => return None,
        }
    }
    let (reads, writes) = arguments.unwrap_or(everywhere);
    Some(match everywhere {
        (false, false) if !reads && !writes => Limits::NOTHING,
        (false, false) => Limits { reach: Reach::Arguments, writes },
        (_, more) => Limits { reach: Reach::Anything, writes: writes || more },
    })
}

#[cfg(test)]
mod tests {
    use super::super::lexer::words;
    use super::*;

    fn limits(text: &str) -> (Reach, bool) {
        let mut out = Vec::new();
        words(text, 0..text.len(), &mut out).expect("words");
        let Limits { reach, writes } = Limits::read(&out);
        (reach, writes)
    }

    #[test]
    fn attributes() {
        assert_eq!(limits("nounwind memory(none)"), (Reach::Nothing, false));
        assert_eq!(limits("readnone"), (Reach::Nothing, false));
        assert_eq!(limits("memory(inaccessiblemem: readwrite)"), (Reach::Nothing, false));
        assert_eq!(limits("memory(argmem: read, errnomem: write)"), (Reach::Arguments, false));
        assert_eq!(limits("argmemonly readonly"), (Reach::Arguments, false));
        assert_eq!(limits("memory(argmem: write)"), (Reach::Arguments, true));
        assert_eq!(limits("memory(read)"), (Reach::Anything, false));
        assert_eq!(limits("memory(read, argmem: readwrite)"), (Reach::Anything, true));
        assert_eq!(limits("memory(readwrite, argmem: none)"), (Reach::Anything, true));
        assert_eq!(limits("writeonly"), (Reach::Anything, true));
        assert_eq!(limits("memory(argmem: read, moon: write)"), (Reach::Anything, true));
        assert_eq!(limits("nounwind"), (Reach::Anything, true));
    }
}

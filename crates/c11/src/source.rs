//! From offsets in preprocessed text to places in the files that people wrote.
//!
//! The preprocessor's markers tell file and line. It does not keep columns (macros are replaced, blanks shrink), so the tokens
//! of a line are compared with those of the line as written: what came out of a macro is where the macro's name is.

use std::fs;

use super::preprocess::ITSELF;
use crate::code::Site;

/// Places of one preprocessed text.
#[derive(Debug)]
pub struct Source {
    /// Paths; the first is the library's own.
    pub files: Vec<String>,
    /// The lines of each file.
    written: Vec<Vec<String>>,
    /// Preprocessed lines: offset, file, line, text.
    lines: Vec<(usize, u32, u32, String)>,
}

impl Source {
    /// Reads the markers of `preprocessed`, which was made of `text` at `path`.
    pub fn new(path: &str, text: &[u8], preprocessed: &str) -> Self {
        let split =
            |text: &[u8]| String::from_utf8_lossy(text).lines().map(str::to_owned).collect::<Vec<_>>();
        let mut source =
            Source { files: vec![path.to_owned()], written: vec![split(text)], lines: Vec::new() };
        let (mut file, mut line, mut offset) = (0, 1, 0);
        for whole in preprocessed.split_inclusive('\n') {
            let content = whole.trim_end_matches(['\n', '\r']);
            if let Some((to, name)) = marker(content) {
                line = to;
                file = if name == ITSELF {
                    0
                } else {
                    source.files.iter().position(|f| *f == name).unwrap_or_else(|| {
                        source.written.push(fs::read(&name).map(|t| split(&t)).unwrap_or_default());
                        source.files.push(name);
                        source.files.len() - 1
                    })
                };
            } else {
                source.lines.push((offset, file as u32, line, content.to_owned()));
                line += 1;
            }
            offset += whole.len();
        }
        source
    }

    /// The place of a byte of the preprocessed text.
    pub fn site(&self, offset: usize) -> Site {
        let after = self.lines.partition_point(|(start, ..)| *start <= offset);
        let Some((start, file, line, content)) = after.checked_sub(1).map(|i| &self.lines[i]) else {
            return Site { file: 0, line: 1, column: 1 };
        };
        let written = self.written[*file as usize].get((*line as usize).saturating_sub(1));
        let column = written.map_or(1, |written| column(content, offset - start, written));
        Site { file: *file, line: *line, column }
    }

    /// The name of a site's file.
    pub fn file(&self, site: Site) -> &str {
        &self.files[site.file as usize]
    }
}

/// `# 12 "name" 1`: line and name.
fn marker(line: &str) -> Option<(u32, String)> {
    let (number, rest) = line.strip_prefix("# ")?.split_once(' ')?;
    let name = rest.strip_prefix('"')?;
    let mut unescaped = String::new();
    let mut chars = name.chars();
    loop {
        match chars.next()? {
            '"' => return Some((number.parse().ok()?, unescaped)),
            '\\' => unescaped.push(chars.next()?),
            c => unescaped.push(c),
        }
    }
}

/// Tokens with their offsets: words, and single other characters.
fn tokens(line: &str) -> Vec<(usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut chars = line.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut end = start + c.len_utf8();
        while is_word(c) && chars.peek().is_some_and(|(_, next)| is_word(*next)) {
            end += chars.next().map_or(0, |(_, c)| c.len_utf8());
        }
        found.push((start, &line[start..end]));
    }
    found
}

/// The column of `written` that stands for the byte at `offset` of `preprocessed`.
fn column(preprocessed: &str, offset: usize, written: &str) -> u32 {
    let (made, given) = (tokens(preprocessed), tokens(written));
    let of = |byte: usize| written[..byte].chars().count() as u32 + 1;
    // Lines that no person wrote by hand would make the table below large.
    if made.len() * given.len() > 1 << 18 {
        return 1;
    }
    // The longest common subsequence: lengths[i][j] of made[i..] and given[j..].
    let width = given.len() + 1;
    let mut lengths = vec![0u32; (made.len() + 1) * width];
    for i in (0..made.len()).rev() {
        for j in (0..given.len()).rev() {
            lengths[i * width + j] = if made[i].1 == given[j].1 {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < made.len() && j < given.len() {
        let is_wanted = made.get(i + 1).is_none_or(|next| next.0 > offset);
        if made[i].1 == given[j].1 {
            if is_wanted {
                return of(given[j].0);
            }
            (i, j) = (i + 1, j + 1);
        } else if is_wanted {
            return of(given[j].0);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    given.last().map_or(1, |last| of(last.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_survive_macros_and_blanks() {
        let at = |made: &str, token: &str, written: &str| column(made, made.find(token).unwrap(), written);
        assert_eq!(at("  x = load(y);", "load", "  x =     load(y);"), 11);
        assert_eq!(at("  x = f(y, memory_order_relaxed) + g;", "memory", "  x = f(y, RLX) + g;"), 12);
        assert_eq!(at("  x = f(y, memory_order_relaxed) + g;", "g", "  x = f(y, RLX) + g;"), 19);
        assert_eq!(at("a = ((void *)0);", "(", "a = NULL;"), 5);
    }

    #[test]
    fn markers_give_file_and_line() {
        let source = Source::new("a.c", b"int x;\nint y;\n", "# 1 \"<stdin>\"\nint x;\nint y;\n");
        assert_eq!(source.site(25), Site { file: 0, line: 2, column: 5 });
    }
}

//! Suppressions: reports that somebody has looked at and doesn't want to see again.
//!
//! A file of lines `type:pattern`; types are `stale`, `race`, `misuse`, `wait` and `all`, `#` starts a comment. A pattern is looked
//! for in the function, source file and module of every frame of both stacks; `*` stands for anything, `^` and `$` at
//! its ends for the ends of the name.

use crate::report::{Frame, Kind, Misuse};

/// One line of a suppressions file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// None: all kinds. All misuses are one kind.
    kind: Option<Kind>,
    pattern: String,
    /// The line, as written.
    pub text: String,
    /// Where it is: `file:line`.
    pub place: String,
    /// Reports that it kept back.
    pub reports: u64,
    /// Their occurrences.
    pub occurrences: u64,
}

/// The rules of a file, or the first mistake as `file:line:column: what`.
pub fn parse(file: &str, text: &str) -> Result<Vec<Rule>, String> {
    let mut rules = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let start = line.len() - line.trim_start().len();
        let mistake = |column: usize, what: &str| Err(format!("{file}:{number}:{}: {what}", column + 1));
        let Some((kind, pattern)) = trimmed.split_once(':') else {
            return mistake(start + trimmed.len(), "expected `type:pattern`, there is no colon");
        };
        let kind = match kind.trim() {
            "stale" => Some(Kind::Stale),
            "race" => Some(Kind::Race),
            "misuse" => Some(Kind::Misuse(Misuse::UseAfterFree)),
            "wait" => Some(Kind::Wait),
            "all" => None,
            other => {
                return mistake(
                    start,
                    &format!("unknown type `{other}`; there are stale, race, misuse, wait, all"),
                );
            }
        };
        let pattern = pattern.trim();
        if pattern.trim_matches(['*', '^', '$']).is_empty() {
            return mistake(start + trimmed.len(), "the pattern is empty: it would match everything");
        }
        let (pattern, text) = (pattern.to_owned(), trimmed.to_owned());
        rules.push(Rule {
            kind,
            pattern,
            text,
            place: format!("{file}:{number}"),
            reports: 0,
            occurrences: 0,
        });
    }
    Ok(rules)
}

/// The first rule that fits a report with these frames.
pub fn find<'a>(
    rules: &[Rule],
    kind: Kind,
    frames: impl Iterator<Item = &'a Frame> + Clone,
) -> Option<usize> {
    rules.iter().position(|rule| {
        rule.kind.is_none_or(|wanted| wanted.is_like(kind))
            && frames.clone().any(|frame| {
                [&frame.function, &frame.file, &frame.module].iter().any(|name| matches(&rule.pattern, name))
            })
    })
}

fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, from_start) = pattern.strip_prefix('^').map_or((pattern, false), |rest| (rest, true));
    let (pattern, to_end) = pattern.strip_suffix('$').map_or((pattern, false), |rest| (rest, true));
    let mut rest = name;
    let mut parts = pattern.split('*').peekable();
    let mut first = true;
    while let Some(part) = parts.next() {
        if to_end && parts.peek().is_none() {
            return if first && from_start { rest == part } else { rest.ends_with(part) };
        }
        let found = if first && from_start { rest.starts_with(part).then_some(0) } else { rest.find(part) };
        match found {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
        first = false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_and_anchors() {
        for (pattern, name, expected) in [
            ("enter", "try_enter(int)", true),
            ("try*int", "try_enter(int)", true),
            ("int*try", "try_enter(int)", false),
            ("^try", "try_enter", true),
            ("^enter", "try_enter", false),
            ("enter$", "try_enter", true),
            ("try$", "try_enter", false),
            ("^try_enter$", "try_enter", true),
            ("^try_enter$", "try_enters", false),
            ("^a*c$", "abcbc", true),
            ("^a*d$", "abc", false),
            ("*x*", "x", true),
            ("aa*aa$", "aaa", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn files() {
        let text = "# ours\nstale:try_enter\n\n  race:src/queue.c  \nwait:*\nall:libfoo.so";
        assert_eq!(
            parse("s.txt", text).unwrap_err(),
            "s.txt:5:7: the pattern is empty: it would match everything"
        );
        let rules = parse("s.txt", &text.replace("wait:*", "wait:spin*")).unwrap();
        let summary: Vec<_> = rules.iter().map(|rule| (rule.pattern.as_str(), rule.place.as_str())).collect();
        let expected = [
            ("try_enter", "s.txt:2"),
            ("src/queue.c", "s.txt:4"),
            ("spin*", "s.txt:5"),
            ("libfoo.so", "s.txt:6"),
        ];
        assert_eq!(summary, expected);
        let frame = |function: &str, module: &str| Frame {
            function: function.into(),
            module: module.into(),
            ..Frame::default()
        };
        let frames = [frame("try_enter", "/bin/p"), frame("main", "/lib/libfoo.so.1")];
        assert_eq!(find(&rules, Kind::Stale, frames.iter()), Some(0));
        assert_eq!(find(&rules, Kind::Race, frames.iter()), Some(3));
        assert_eq!(find(&rules, Kind::Race, frames[..1].iter()), None);
    }

    #[test]
    fn mistakes() {
        assert_eq!(parse("f", "ok").unwrap_err(), "f:1:3: expected `type:pattern`, there is no colon");
        let unknown = "f:2:2: unknown type `thread`; there are stale, race, misuse, wait, all";
        assert_eq!(parse("f", "\n thread:x").unwrap_err(), unknown);
        assert!(parse("f", "stale:").is_err());
    }
}

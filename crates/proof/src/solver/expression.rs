//! What a solver prints, taken apart: words and lists.

/// A word or a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A word, `|with bars|` or `"with quotes"` included.
    Word(String),
    /// `(a b c)`
    List(Vec<Expression>),
}

/// Deeper lists are none of a solver's answers to us.
const DEEPEST: usize = 1000;

/// All expressions of a text; `None` if it is not made of such.
pub fn parse(text: &str) -> Option<Vec<Expression>> {
    let mut open: Vec<Vec<Expression>> = vec![Vec::new()];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        match first {
            '(' if open.len() > DEEPEST => return None,
            '(' => {
                open.push(Vec::new());
                rest = &rest[1..];
            }
            ')' => {
                let list = Expression::List(open.pop()?);
                open.last_mut()?.push(list);
                rest = &rest[1..];
            }
            _ => {
                let length = word(rest, first)?;
                open.last_mut()?.push(Expression::Word(rest[..length].to_owned()));
                rest = &rest[length..];
            }
        }
        rest = rest.trim_start();
    }
    let all = open.pop()?;
    open.is_empty().then_some(all)
}

/// The length of the word that a text begins with.
fn word(text: &str, first: char) -> Option<usize> {
    match first {
        '|' | '"' => text[1..].find(first).map(|end| end + 2),
        _ => Some(text.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(text.len())),
    }
}

impl Expression {
    /// The word, if it is one.
    pub fn as_word(&self) -> Option<&str> {
        match self {
            Expression::Word(word) => Some(word),
            Expression::List(_) => None,
        }
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&[Expression]> {
        match self {
            Expression::Word(_) => None,
            Expression::List(list) => Some(list),
        }
    }

    /// The text between quotes of `(key "text")`, or its word.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        match self.as_list()? {
            [first, text] if first.as_word() == Some(key) => Some(text.as_word()?.trim_matches('"')),
            _ => None,
        }
    }

    /// A value as people write it: `-3` for `(- 3)`.
    pub fn value(&self) -> String {
        match self {
            Expression::Word(word) => word.clone(),
            Expression::List(list) => match &list[..] {
                [Expression::Word(minus), Expression::Word(number)] if minus == "-" => format!("-{number}"),
                _ => format!("({})", list.iter().map(Expression::value).collect::<Vec<_>>().join(" ")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let all = parse("((x (- 4))\n (|a b| \"say (\") ((+ x 1) true))").unwrap();
        let pairs = all[0].as_list().unwrap();
        assert_eq!(pairs[0].as_list().unwrap()[1].value(), "-4");
        assert_eq!(pairs[1].value(), "(|a b| \"say (\")");
        assert_eq!(pairs[2].as_list().unwrap()[0].value(), "(+ x 1)");
    }

    #[test]
    fn what_is_none() {
        for text in ["(", ")", "(a))", "|a", "\"", &"(".repeat(5000)] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("  "), Some(Vec::new()));
    }
}

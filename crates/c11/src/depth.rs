//! How deep a text is nested, before the parser sees it: the parser is recursive and would run out of stack.

/// Most brackets within brackets.
const BRACKETS: usize = 64;
/// Most tokens of an expression, between separators.
const TOKENS: usize = 1000;
/// Most `else` and `for` in a file: a chain of them is as deep as it is long.
const BRANCHES: usize = 2000;

/// The offset at which a text is too deep, and why.
pub fn check(text: &str) -> Result<(), (usize, String)> {
    let (mut brackets, mut tokens, mut branches) = (0usize, 0usize, 0usize);
    let mut previous = b' ';
    for (offset, byte) in text.bytes().enumerate() {
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        match byte {
            b'(' | b'[' | b'{' => brackets += 1,
            b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        if matches!(byte, b';' | b',' | b'{' | b'}') {
            tokens = 0;
        } else if !(byte.is_ascii_whitespace() || is_word(byte) && is_word(previous)) {
            tokens += 1;
        }
        let rest = &text.as_bytes()[offset..];
        if !is_word(previous) && (rest.starts_with(b"else") || rest.starts_with(b"for")) {
            branches += 1;
        }
        previous = byte;
        let message = if brackets > BRACKETS {
            format!("brackets are nested more than {BRACKETS} deep")
        } else if tokens > TOKENS {
            format!("an expression has more than {TOKENS} parts")
        } else if branches > BRANCHES {
            format!("there are more than {BRANCHES} branches and loops in one file")
        } else {
            continue;
        };
        return Err((offset, message));
    }
    Ok(())
}

//! Formulas of SMT-LIB, written down.

/// All of them.
pub fn all<S: AsRef<str>>(parts: impl IntoIterator<Item = S>) -> String {
    joined("and", "true", parts)
}

/// At least one of them.
pub fn any<S: AsRef<str>>(parts: impl IntoIterator<Item = S>) -> String {
    joined("or", "false", parts)
}

fn joined<S: AsRef<str>>(operator: &str, none: &str, parts: impl IntoIterator<Item = S>) -> String {
    let mut text = format!("({operator}");
    let (mut count, mut last) = (0, String::new());
    for part in parts {
        let part = part.as_ref();
        if part == none {
            continue;
        }
        text.push(' ');
        text.push_str(part);
        count += 1;
        if count == 1 {
            last = part.to_owned();
        }
    }
    match count {
        0 => none.to_owned(),
        1 => last,
        _ => text + ")",
    }
}

/// If the first, then the second.
pub fn implies(premise: &str, conclusion: &str) -> String {
    if premise == "true" { conclusion.to_owned() } else { format!("(=> {premise} {conclusion})") }
}

/// Not that.
pub fn not(formula: &str) -> String {
    format!("(not {formula})")
}

/// Two numbers or truth values are the same.
pub fn equal(a: &str, b: &str) -> String {
    if a == b { "true".to_owned() } else { format!("(= {a} {b})") }
}

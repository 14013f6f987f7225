//! Debug information: where instructions come from, and what pointers point at.

use super::Error;
use super::lexer::{Token, Word};
use super::module::{Local, Module};
use super::operands::Locals;
use crate::program::Place;
use rustc_hash::FxHashMap;

/// The text of a node.
pub fn node<'a>(text: &'a str, module: &Module, number: u32) -> Option<&'a str> {
    text.get(module.metadata.get(&number)?.clone())
}

/// `key: value` of a node: the value, with the quotes of strings taken off.
pub fn field<'a>(node: &'a str, key: &str) -> Option<&'a str> {
    let bytes = node.as_bytes();
    let mut quoted = false;
    let mut at = 0;
    while at < bytes.len() {
        let begins = !quoted && matches!(bytes[at], b'(' | b' ');
        quoted ^= bytes[at] == b'"';
        at += 1;
        if begins
            && let Some(value) = node.get(at..).and_then(|rest| rest.strip_prefix(key)?.strip_prefix(": "))
        {
            return match value.strip_prefix('"') {
                Some(string) => string.split('"').next(),
                None => value.split([',', ')']).next().map(str::trim),
            };
        }
    }
    None
}

/// `!17` in a field of a node.
pub fn reference(node: &str, key: &str) -> Option<u32> {
    field(node, key)?.strip_prefix('!')?.parse().ok()
}

/// Chains in debug information are no longer than this.
const STEPS: usize = 256;

/// The file that a scope is in, with its directory.
fn file(text: &str, module: &Module, mut scope: u32) -> Option<String> {
    for _ in 0..STEPS {
        let node = node(text, module, scope)?;
        if node.contains("!DIFile(") {
            let name = field(node, "filename")?;
            let folder = field(node, "directory").unwrap_or_default();
            return Some(match name.starts_with('/') || folder.is_empty() {
                true => name.to_owned(),
                false => format!("{folder}/{name}"),
            });
        }
        scope = reference(node, "file").or_else(|| reference(node, "scope"))?;
    }
    None
}

/// The places behind a `!DILocation`: where the instruction was written, then the calls that were inlined around it.
pub fn places(text: &str, module: &Module, number: u32) -> Vec<Place> {
    let mut out = Vec::new();
    let mut next = Some(number);
    while let Some(location) = next.take().and_then(|number| node(text, module, number)) {
        let number = |key| field(location, key).and_then(|n| n.parse().ok()).unwrap_or(0);
        let scope = reference(location, "scope").and_then(|scope| file(text, module, scope));
        if let Some(file) = scope
            && number("line") > 0
        {
            out.push(Place { file, line: number("line"), column: number("column") });
        }
        if out.len() < STEPS {
            next = reference(location, "inlinedAt");
        }
    }
    out
}

/// The name in the source of a function with this description.
pub fn function_name<'a>(text: &'a str, module: &Module, number: u32) -> Option<&'a str> {
    field(node(text, module, number)?, "name")
}

/// Places that instructions refer to must exist; if one does not, the end of the file is missing.
pub fn check(text: &str, module: &Module) -> Result<(), Error> {
    let bodies = module.functions.iter().flat_map(|function| &function.blocks);
    for instruction in bodies.flat_map(|block| &block.body) {
        if let Some(number) = instruction.debug
            && !module.metadata.contains_key(&number)
        {
            let message = format!("`!{number}` is not defined: the file seems to have been cut off");
            return Err(Error::new(instruction.span.start.min(text.len()), message));
        }
    }
    Ok(())
}

/// Notes what a variable of the source says about the value in it: `#dbg_value(ptr %p, !variable, !DIExpression(), …)` or the
/// call that older versions print. Only if the variable is a pointer to a structure and the value is all of it.
pub fn pointee(
    text: &str,
    module: &Module,
    words: &[Token],
    locals: &Locals,
    out: &mut FxHashMap<Local, u32>,
) {
    let is_value = words
        .iter()
        .take(5)
        .any(|token| matches!(token.word, Word::Group("dbg_value") | Word::Global("llvm.dbg.value")));
    if !is_value {
        return;
    }
    let local = words.iter().find_map(|token| match token.word {
        Word::Local(name) => locals.numbers.get(name),
        _ => None,
    });
    let expression = words.iter().position(|token| token.word == Word::Metadata("DIExpression"));
    let plain = expression.is_some_and(|at| {
        matches!(
            words.get(at + 1..at + 3),
            Some([Token { word: Word::Sign('('), .. }, Token { word: Word::Sign(')'), .. }])
        )
    });
    let variable = words.iter().find_map(|token| match token.word {
        Word::Metadata(number) => number.parse().ok(),
        _ => None,
    });
    if let (Some(&local), true, Some(variable)) = (local, plain, variable)
        && let Some(structure) = pointed_at(text, module, variable)
    {
        out.entry(local).or_insert(structure);
    }
}

/// The structure that a variable points at.
fn pointed_at(text: &str, module: &Module, variable: u32) -> Option<u32> {
    let mut number = reference(node(text, module, variable)?, "type")?;
    let mut pointers = 0;
    for _ in 0..STEPS {
        let node = node(text, module, number)?;
        match field(node, "tag")? {
            "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type" => pointers += 1,
            "DW_TAG_structure_type" | "DW_TAG_class_type" => {
                let sized = size(text, module, number).is_some_and(|size| size > 0);
                return (pointers == 1 && sized).then_some(number);
            }
            "DW_TAG_typedef"
            | "DW_TAG_const_type"
            | "DW_TAG_volatile_type"
            | "DW_TAG_restrict_type"
            | "DW_TAG_atomic_type" => {}
            _ => return None,
        }
        number = reference(node, "baseType")?;
    }
    None
}

/// The size of a type in bytes.
pub fn size(text: &str, module: &Module, number: u32) -> Option<u64> {
    Some(field(node(text, module, number)?, "size")?.parse::<u64>().ok()? / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let node = r#"distinct !DISubprogram(name: "a, (line: 9)", line: 12, scope: !3, flags: A | B)"#;
        assert_eq!(field(node, "name"), Some("a, (line: 9)"));
        assert_eq!(field(node, "line"), Some("12"));
        assert_eq!(reference(node, "scope"), Some(3));
        assert_eq!(field(node, "flags"), Some("A | B"));
        assert_eq!(field(node, "file"), None);
    }
}

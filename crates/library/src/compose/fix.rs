//! Fences put into the text of a client.

use super::{Call, Composition, Fixable, Interface, check};
use crate::c::Error;
use crate::code::Site;

/// A client with fences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fixed {
    /// Its text.
    pub text: String,
    /// Where fences were put: places in the old text.
    pub fences: Vec<Site>,
    /// Calls that still need one in front of them, and why they have none.
    pub left: Vec<(Call, &'static str)>,
}

const FENCE: &str = "atomic_thread_fence(memory_order_seq_cst)";
const HEADER: &str = "#include <stdatomic.h>";

/// Puts a fence in front of every call that lacks one; what comes out is checked again.
///
/// A fence in front of a call helps this call alone, so no smaller number of such fences will do.
pub fn fix(
    path: &str,
    text: &str,
    macros: &[String],
    composition: &Composition,
    libraries: &[Interface],
) -> Result<Fixed, Error> {
    let mut left = Vec::new();
    let mut edits: Vec<(usize, String, Site)> = Vec::new();
    let mut later: Vec<&Call> = composition.gaps.iter().map(|gap| &gap.later).collect();
    later.dedup();
    let fences = later.len();
    for call in later {
        match place(text, call) {
            Ok(parts) => edits.extend(parts.into_iter().map(|(at, what)| (at, what, call.site))),
            Err(why) => left.push((call.clone(), why)),
        }
    }
    let mut done: Vec<Site> = edits.iter().map(|(_, _, site)| *site).collect();
    done.dedup();
    debug_assert_eq!(done.len() + left.len(), fences);
    if !edits.is_empty() && !text.contains("<stdatomic.h>") {
        edits.push((header(text), format!("{HEADER}\n"), Site::default()));
    }
    edits.sort_by_key(|(at, ..)| *at);
    let mut out = String::new();
    let mut from = 0;
    for (at, what, _) in &edits {
        out.push_str(&text[from..*at]);
        out.push_str(what);
        from = *at;
    }
    out.push_str(&text[from..]);
    // What a macro made of a call cannot be changed by changing the call.
    let again = check(path, out.as_bytes(), macros, libraries)?;
    if left.is_empty() {
        let missed = again.gaps.into_iter().map(|gap| (gap.later, "the fence in front of it did not help"));
        left.extend(missed);
    }
    Ok(Fixed { text: out, fences: done, left })
}

/// Insertions (offset, text) that put a fence in front of a call.
fn place(text: &str, call: &Call) -> Result<Vec<(usize, String)>, &'static str> {
    const ELSEWHERE: &str = "it stands in a file that the client includes, or in a macro";
    if call.site.file != 0 {
        return Err(ELSEWHERE);
    }
    let start = offset(text, call.site).ok_or(ELSEWHERE)?;
    if !text[start..].starts_with(&call.what) {
        return Err(ELSEWHERE);
    }
    match call.fix {
        Fixable::Not => Err("other calls in the same expression come in between: make a statement of each"),
        Fixable::Statement(site) => {
            let at = offset(text, site).ok_or(ELSEWHERE)?;
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let indent: String = text[line..].chars().take_while(|c| *c == ' ' || *c == '\t').collect();
            // On a line of its own, whatever else stands on the line of the call.
            let break_before = if text[line..at].trim().is_empty() { "" } else { "\n" };
            let indent_before = if break_before.is_empty() { "" } else { &indent };
            Ok(vec![(at, format!("{break_before}{indent_before}{FENCE};\n{indent}"))])
        }
        Fixable::Expression => {
            let end = end_of_call(text, start + call.what.len()).ok_or(ELSEWHERE)?;
            Ok(vec![(start, format!("({FENCE}, ")), (end, ")".to_owned())])
        }
    }
}

/// The byte offset of a place.
fn offset(text: &str, site: Site) -> Option<usize> {
    let mut start = 0;
    for _ in 1..site.line {
        start += text[start..].find('\n')? + 1;
    }
    let line = text[start..].split('\n').next()?;
    let column = (site.column as usize).checked_sub(1)?;
    line.char_indices().map(|(at, _)| at).chain([line.len()]).nth(column).map(|at| start + at)
}

/// Behind the bracket that closes the arguments which begin at `from`.
fn end_of_call(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (from, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'(' => depth += 1,
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while *bytes.get(at)? != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if text[at..].starts_with("/*") => at += text[at..].find("*/")? + 1,
            b'/' if text[at..].starts_with("//") => at += text[at..].find('\n')?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where a header can be included: in front of the first one that is, or else at the top.
fn header(text: &str) -> usize {
    match text.find("#include") {
        Some(at) if text[..at].is_empty() || text[..at].ends_with('\n') => at,
        _ => 0,
    }
}

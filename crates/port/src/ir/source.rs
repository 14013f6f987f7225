//! Changes in the source: what a fence or a stronger order in LLVM IR is in C and C++, at the lines that debug information names.
//!
//! A source line is not an instruction: whether the changed source does what the changed IR does is for the caller to find out, by
//! compiling it and asking again.

use super::code::Code;
use super::debug;
use super::inline::Site;
use super::module::Op;
use super::patch::{self, Edit};
use crate::change::Strength;
use crate::machine::Fence;
use crate::mapping::Features;
use crate::program::Place;
use std::collections::BTreeMap;

/// Changed files, and what could not be expressed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Changed {
    /// Names of files, what was in them and what should be.
    pub files: Vec<(String, String, String)>,
    /// Changes for which there is no way to write them.
    pub left: Vec<Edit>,
}

/// Where an instruction, or the next one behind it, stands in the source.
pub fn place(code: &Code, site: Site) -> Option<Place> {
    let (function, block, index) = match site {
        Site::Before { function, block, index } => (function, block, index),
        Site::Edge { function, to, .. } => (function, to, 0),
    };
    let file = code.files.get(function.file as usize)?;
    let body = &code.function(function)?.blocks.get(block as usize)?.body;
    body.iter().skip(index as usize).filter_map(|instruction| instruction.debug).find_map(|number| {
        let places = debug::places(&file.text, &file.module, number);
        places.iter().find(|place| !super::lower::is_library(&place.file)).or(places.first()).cloned()
    })
}

/// Writes changes into the source; `read` gives the text of a file.
pub fn change(
    code: &Code,
    edits: &[Edit],
    features: Features,
    read: &dyn Fn(&str) -> Option<String>,
) -> Changed {
    let mut out = Changed::default();
    let mut files: BTreeMap<String, Source> = BTreeMap::new();
    for edit in edits {
        let written = place(code, edit.site()).and_then(|place| {
            if !files.contains_key(&place.file) {
                files.insert(place.file.clone(), Source::new(&place.file, read(&place.file)?));
            }
            let source = files.get_mut(&place.file)?;
            match *edit {
                Edit::Fence(_, fence) => source.fence(&place, fence),
                Edit::Strengthen(_, strength) => {
                    source.strengthen(&place, strength, is_load(code, edit.site()), features)
                }
            }
        });
        if written.is_none() {
            out.left.push(*edit);
        }
    }
    for (name, source) in files {
        let new = source.finish();
        if new != source.text {
            out.files.push((name, source.text, new));
        }
    }
    out
}

fn is_load(code: &Code, site: Site) -> bool {
    let Site::Before { function, block, index } = site else { return false };
    let block = code.function(function).and_then(|function| function.blocks.get(block as usize));
    let instruction = block.and_then(|block| block.body.get(index as usize));
    instruction.is_some_and(|instruction| matches!(instruction.op, Op::Load { .. }))
}

struct Source {
    text: String,
    lines: Vec<String>,
    /// Lines to put in front of others, by number from 0.
    before: BTreeMap<usize, String>,
    std: &'static str,
}

impl Source {
    fn new(name: &str, text: String) -> Source {
        let cxx = !name.ends_with(".c") && !name.ends_with(".h");
        let lines = text.split('\n').map(str::to_owned).collect();
        Source { text, lines, before: BTreeMap::new(), std: if cxx { "std::" } else { "" } }
    }

    /// A fence in front of the statement on a line.
    fn fence(&mut self, place: &Place, fence: Fence) -> Option<()> {
        let line = (place.line as usize).checked_sub(1)?;
        if !self.begins_statement(line) {
            return None;
        }
        // An acquire fence is a load fence; there is none in C11 for stores alone.
        let order = if fence == Fence::Load { "acquire" } else { "seq_cst" };
        let indent: String = self.lines[line].chars().take_while(|c| c.is_whitespace()).collect();
        let std = self.std;
        let new = format!("{indent}{std}atomic_thread_fence({std}memory_order_{order});");
        let stronger = |old: &mut String| {
            if order == "seq_cst" {
                old.clone_from(&new);
            }
        };
        self.before.entry(line).and_modify(stronger).or_insert_with(|| new.clone());
        Some(())
    }

    /// Whether a statement begins on a line, and another line can stand in front of it.
    fn begins_statement(&self, line: usize) -> bool {
        let Some(text) = self.lines.get(line).map(|text| text.trim()) else { return false };
        let odd = ["else", "case", "default", "}", "{", "?", ":", "&&", "||", ")", "//", "/*", "*", "#"];
        if text.is_empty() || odd.iter().any(|word| text.starts_with(word)) {
            return false;
        }
        let before = self.lines[..line].iter().rev().map(|line| code_of(line)).find(|line| !line.is_empty());
        before.is_some_and(|before| before.ends_with([';', '{', '}', ':']))
    }

    /// A stronger order in the call at a place.
    fn strengthen(
        &mut self,
        place: &Place,
        strength: Strength,
        load: bool,
        features: Features,
    ) -> Option<()> {
        let line = (place.line as usize).checked_sub(1)?;
        let start = (place.column as usize).saturating_sub(1);
        let mut depth = 0;
        for number in line..(line + 5).min(self.lines.len()) {
            let text = self.lines[number].clone();
            let mut at = if number == line { start } else { 0 };
            while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
                let c = rest.chars().next()?;
                match c {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ if depth == 1 && rest.starts_with("memory_order") => {
                        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
                        let old = &rest[..end.unwrap_or(rest.len())];
                        let new = stronger(old, strength, load, features)?;
                        self.lines[number].replace_range(at..at + old.len(), &new);
                        return Some(());
                    }
                    _ => {}
                }
                if depth < 0 || depth == 0 && matches!(c, ')' | ';') {
                    return None;
                }
                at += c.len_utf8();
            }
        }
        None
    }

    fn finish(&self) -> String {
        let mut out: Vec<&str> = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            out.extend(self.before.get(&number).map(String::as_str));
            out.push(line);
        }
        out.join("\n")
    }
}

/// A line without a comment at its end, and without blanks.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim()
}

/// `memory_order_relaxed` and the like, made stronger.
fn stronger(order: &str, strength: Strength, load: bool, features: Features) -> Option<String> {
    let known = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"];
    let name =
        known.into_iter().find(|name| order.strip_suffix(name).is_some_and(|s| s.ends_with(['_', ':'])))?;
    let in_ir = match name {
        "relaxed" => "monotonic",
        "consume" => "acquire",
        same => same,
    };
    let new = patch::stronger(in_ir, strength, load, features);
    let new = if new == in_ir { name } else { new };
    Some(format!("{}{new}", order.strip_suffix(name)?))
}

/// The difference between two texts that differ in few lines, as `diff -u` prints it.
pub fn diff(name: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    // Lines were put in or replaced, never taken out or moved: walk along both.
    let mut changes: Vec<(usize, usize, usize, usize)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (from, to) = (i, j);
        let inserted =
            new[j.min(new.len())..].iter().take(4).position(|line| i < old.len() && *line == old[i]);
        match inserted {
            Some(lines) => j += lines,
            None => (i, j) = ((i + 1).min(old.len()), (j + 1).min(new.len())),
        }
        changes.push((from, i, to, j));
    }
    let mut out = String::new();
    let mut next = 0;
    while next < changes.len() {
        let first = next;
        while next + 1 < changes.len() && changes[next + 1].0 <= changes[next].1 + 6 {
            next += 1;
        }
        let group = &changes[first..=next];
        next += 1;
        if out.is_empty() {
            out.push_str(&format!("--- a/{name}\n+++ b/{name}\n"));
        }
        let (start, end) = (group[0].0.saturating_sub(3), (group[group.len() - 1].1 + 3).min(old.len()));
        let lead = group[0].0 - start;
        let tail = end - group[group.len() - 1].1;
        let new_start = group[0].2 - lead;
        let new_end = group[group.len() - 1].3 + tail;
        let range = |start: usize, end: usize| {
            format!("{},{}", if end > start { start + 1 } else { start }, end - start)
        };
        out.push_str(&format!("@@ -{} +{} @@\n", range(start, end), range(new_start, new_end)));
        let mut at = start;
        let mut line = |sign: char, text: &str| {
            out.push(sign);
            out.push_str(text);
            if !text.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        };
        for &(from, to, new_from, new_to) in group {
            old[at..from].iter().for_each(|text| line(' ', text));
            old[from..to].iter().for_each(|text| line('-', text));
            new[new_from..new_to].iter().for_each(|text| line('+', text));
            at = to;
        }
        old[at..end].iter().for_each(|text| line(' ', text));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Place {
        Place { file: "a.c".to_owned(), line, column }
    }

    #[test]
    fn fences_and_orders() {
        let text = "void f(void) {\n    x = 1;\n    if (a)\n        y = 2;\n    z(memory_order_relaxed,\n      memory_order_relaxed);\n}\n";
        let mut source = Source::new("a.c", text.to_owned());
        assert!(source.fence(&at(2, 7), Fence::Load).is_some());
        assert!(source.fence(&at(2, 7), Fence::Store).is_some());
        assert!(source.fence(&at(4, 11), Fence::Full).is_none(), "it would take the place of the body");
        assert!(source.strengthen(&at(5, 5), Strength::Acquire, true, Features::default()).is_some());
        assert!(source.strengthen(&at(2, 5), Strength::Acquire, true, Features::default()).is_none());
        let new = source.finish();
        let patch = diff("a.c", text, &new);
        assert_eq!(
            patch,
            "--- a/a.c\n+++ b/a.c\n@@ -1,7 +1,8 @@\n void f(void) {\n+    atomic_thread_fence(memory_order_seq_cst);\n     x = 1;\n     if (a)\n         y = 2;\n-    z(memory_order_relaxed,\n+    z(memory_order_acquire,\n       memory_order_relaxed);\n }\n"
        );
    }

    #[test]
    fn orders_get_stronger() {
        let s = |order: &str, to| stronger(order, to, false, Features::default());
        assert_eq!(s("memory_order_relaxed", Strength::Release).as_deref(), Some("memory_order_release"));
        assert_eq!(s("memory_order::acquire", Strength::Release).as_deref(), Some("memory_order::acq_rel"));
        assert_eq!(s("memory_order_seq_cst", Strength::Release).as_deref(), Some("memory_order_seq_cst"));
        assert_eq!(s("memory_order_variable", Strength::Release), None);
        let rcpc = |to| stronger("memory_order_relaxed", to, true, Features { rcpc: true });
        assert_eq!(rcpc(Strength::AcquirePc).as_deref(), Some("memory_order_acquire"));
        assert_eq!(rcpc(Strength::Acquire).as_deref(), Some("memory_order_seq_cst"));
    }
}

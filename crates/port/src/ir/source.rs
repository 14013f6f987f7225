//! Changes in the source: what a fence or a stronger order in LLVM IR is in C and C++, at the places that debug information names.
//!
//! A statement is not an instruction: whether the changed source does what the changed IR does is for the caller to find out, by
//! compiling it and asking again.

use super::code::Code;
use super::debug;
use super::inline::Site;
use super::module::Op;
use super::patch::{self, Edit};
use super::statements::{Spot, Statements};
use crate::change::Strength;
use crate::machine::Fence;
use crate::mapping::Features;
use crate::program::Place;
use std::collections::BTreeMap;

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

/// Where in the source a fence in front of an instruction belongs. An access that stands for several has no place of its own:
/// then it is that of what leads up to it.
fn place_of_fence(code: &Code, site: Site) -> Option<Place> {
    if let Site::Before { function, block, index } = site {
        let body = &code.function(function)?.blocks.get(block as usize)?.body;
        for back in (0..=index).rev() {
            let instruction = body.get(back as usize)?;
            if back < index && touches_memory(&instruction.op) {
                break;
            }
            let here = Site::Before { function, block, index: back };
            let file = code.files.get(function.file as usize)?;
            let number = instruction.debug;
            if number.is_some_and(|number| !debug::places(&file.text, &file.module, number).is_empty()) {
                return place(code, here);
            }
        }
    }
    place(code, site)
}

fn touches_memory(op: &Op) -> bool {
    matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::CompareExchange { .. })
}

/// Sources that are being changed.
pub struct Sources<'a> {
    code: &'a Code,
    features: Features,
    /// Gives the text of a file, if it may be changed.
    read: &'a dyn Fn(&str) -> Option<String>,
    files: BTreeMap<String, Option<Source>>,
}

impl<'a> Sources<'a> {
    /// The sources of a program, as they are.
    pub fn new(code: &'a Code, features: Features, read: &'a dyn Fn(&str) -> Option<String>) -> Sources<'a> {
        Sources { code, features, read, files: BTreeMap::new() }
    }

    fn file(&mut self, name: &str) -> Option<&mut Source> {
        if !self.files.contains_key(name) {
            let source = (self.read)(name).map(|text| Source::new(name, text));
            self.files.insert(name.to_owned(), source);
        }
        self.files.get_mut(name)?.as_mut()
    }

    /// Whether there is a way to write a change, in the right place as far as can be told.
    pub fn can(&mut self, edit: Edit) -> bool {
        match edit {
            Edit::Fence(site, _) => self.begins(site).unwrap_or(false),
            Edit::Strengthen(..) => self.order(edit).is_some(),
        }
    }

    /// Whether nothing that came before an instruction is in the same statement: a fence would stand in front of that, too.
    fn begins(&mut self, site: Site) -> Option<bool> {
        let here = self.spot(site)?;
        let Site::Before { function, mut block, mut index } = site else { return Some(true) };
        let blocks = &self.code.function(function)?.blocks;
        for _ in 0..STEPS {
            if index == 0 {
                let leads = |from: &usize| blocks[*from].successors().contains(&(block as usize));
                let mut before = (0..blocks.len()).filter(leads);
                match (before.next(), before.next()) {
                    (Some(only), None) => (block, index) = (only as u32, blocks[only].body.len() as u32),
                    _ => break,
                }
                continue;
            }
            index -= 1;
            let op = &blocks[block as usize].body.get(index as usize)?.op;
            if matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::CompareExchange { .. })
            {
                return Some(self.spot(Site::Before { function, block, index }) != Some(here));
            }
        }
        Some(true)
    }

    /// Where a fence goes for an instruction.
    fn spot(&mut self, site: Site) -> Option<Spot> {
        let place = place_of_fence(self.code, site)?;
        self.file(&place.file)?.spot(&place)
    }

    /// Where an order stands, and a stronger one.
    fn order(&mut self, edit: Edit) -> Option<(String, (usize, usize), String)> {
        let Edit::Strengthen(site, strength) = edit else { return None };
        let place = place(self.code, site)?;
        let (load, features) = (is_load(self.code, site), self.features);
        let (bytes, new) = self.file(&place.file)?.order(&place, strength, load, features)?;
        Some((place.file, bytes, new))
    }

    /// Writes a change. False if there is no way to.
    pub fn change(&mut self, edit: Edit) -> bool {
        let written = match edit {
            Edit::Fence(site, fence) => self.spot(site).and_then(|spot| {
                let place = place_of_fence(self.code, site)?;
                *self.file(&place.file)?.fences.entry(spot).or_default() |= fence != Fence::Load;
                Some(())
            }),
            Edit::Strengthen(..) => self.order(edit).and_then(|(name, bytes, new)| {
                self.file(&name)?.orders.insert(bytes, new);
                Some(())
            }),
        };
        written.is_some()
    }

    /// Names of files, what was in them and what should be.
    pub fn finish(self) -> Vec<(String, String, String)> {
        let files = self.files.into_iter().filter_map(|(name, source)| Some((name, source?)));
        let all = files.map(|(name, source)| (name, source.finish(), source.text));
        all.filter(|(_, new, old)| new != old).map(|(name, new, old)| (name, old, new)).collect()
    }
}

fn is_load(code: &Code, site: Site) -> bool {
    let Site::Before { function, block, index } = site else { return false };
    let block = code.function(function).and_then(|function| function.blocks.get(block as usize));
    let instruction = block.and_then(|block| block.body.get(index as usize));
    instruction.is_some_and(|instruction| matches!(instruction.op, Op::Load { .. }))
}

struct Source {
    text: String,
    /// Where lines begin.
    lines: Vec<usize>,
    /// Fences; true for those that are more than load fences.
    fences: BTreeMap<Spot, bool>,
    /// Orders, by the bytes that they stand at.
    orders: BTreeMap<(usize, usize), String>,
    cxx: bool,
    statements: Statements,
}

impl Source {
    fn new(name: &str, text: String) -> Source {
        let cxx = !name.ends_with(".c") && !name.ends_with(".h");
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let statements = Statements::new(&text);
        Source { text, lines, fences: BTreeMap::new(), orders: BTreeMap::new(), cxx, statements }
    }

    /// The byte that a place is at; the first one of the line that is not blank, if it has no column.
    fn offset(&self, place: &Place) -> Option<usize> {
        let start = *self.lines.get((place.line as usize).checked_sub(1)?)?;
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        let column = match place.column {
            0 => line.len() - line.trim_start().len(),
            column => column as usize - 1,
        };
        (column <= line.len()).then_some(start + column)
    }

    /// Where a fence goes that is to be in front of what is at a place.
    fn spot(&self, place: &Place) -> Option<Spot> {
        self.statements.spot(self.offset(place)?)
    }

    /// A fence as it is called here: by the name in the standard, if the source has such names.
    fn call(&self, full: bool) -> String {
        // An acquire fence is a load fence; there is none in C11 for stores alone.
        let order = if full { "seq_cst" } else { "acquire" };
        let has = |names: [&str; 2]| names.iter().any(|name| self.text.contains(name));
        match self.cxx {
            true if has(["<atomic>", "std::memory_order"]) => {
                format!("std::atomic_thread_fence(std::memory_order_{order})")
            }
            false if has(["<stdatomic.h>", "memory_order_"]) => {
                format!("atomic_thread_fence(memory_order_{order})")
            }
            _ => format!("__atomic_thread_fence(__ATOMIC_{})", order.to_ascii_uppercase()),
        }
    }

    /// The order in the call at a place: where it stands, and a stronger one.
    fn order(
        &self,
        place: &Place,
        strength: Strength,
        load: bool,
        features: Features,
    ) -> Option<((usize, usize), String)> {
        let start = self.offset(place)?;
        let mut depth = 0;
        for (at, c) in self.text.get(start..)?.char_indices().take(LONGEST) {
            let rest = &self.text[start + at..];
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ if depth == 1 && rest.starts_with("memory_order") => {
                    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
                    let old = &rest[..end.unwrap_or(rest.len())];
                    let bytes = (start + at, start + at + old.len());
                    let now = self.orders.get(&bytes).map_or(old, |order| order);
                    return Some((bytes, stronger(now, strength, load, features)?));
                }
                _ => {}
            }
            if depth < 0 || depth == 0 && matches!(c, ')' | ';') {
                return None;
            }
        }
        None
    }

    fn finish(&self) -> String {
        let mut changes: Vec<(usize, usize, String)> =
            self.orders.iter().map(|(&(start, end), new)| (start, end, new.clone())).collect();
        for (spot, &full) in &self.fences {
            let call = self.call(full);
            let mut put = |at: usize, text: String| changes.push((at, at, text));
            match *spot {
                Spot::Before(at) => {
                    let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
                    let indent = &self.text[line..at];
                    let end = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
                    match indent.trim().is_empty() {
                        // A brace stands less far in than what is in front of it.
                        true if self.text[at..].starts_with('}') => {
                            put(line, format!("{indent}    {call};{end}"));
                        }
                        true => put(line, format!("{indent}{call};{end}")),
                        false => put(at, format!("{call}; ")),
                    }
                }
                Spot::Body(start, end) => {
                    put(start, format!("{{ {call}; "));
                    put(end, " }".to_owned());
                }
                Spot::Head(at) => put(at, format!("{call}, ")),
                Spot::Operand(start, end) => {
                    put(start, format!("({call}, "));
                    put(end, ")".to_owned());
                }
            }
        }
        changes.sort();
        let mut out = String::with_capacity(self.text.len() + 1024);
        let mut done = 0;
        for (start, end, new) in changes {
            out.push_str(&self.text[done..start]);
            out.push_str(&new);
            done = end;
        }
        out.push_str(&self.text[done..]);
        out
    }
}

/// Calls are no longer than this.
const LONGEST: usize = 1_000;

/// How far to look back for what else is in a statement.
const STEPS: usize = 100;

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
        let spot = source.spot(&at(2, 7)).expect("a statement");
        source.fences.insert(spot, true);
        let body = source.spot(&at(4, 11)).expect("a statement");
        source.fences.insert(body, false);
        assert_eq!(source.spot(&at(1, 6)), None, "it would be outside of the function");
        assert_eq!(source.spot(&at(9, 1)), None, "there is no such line");
        let (bytes, new) =
            source.order(&at(5, 5), Strength::Acquire, true, Features::default()).expect("an order");
        source.orders.insert(bytes, new);
        assert!(source.order(&at(2, 5), Strength::Acquire, true, Features::default()).is_none());
        let new = source.finish();
        let patch = diff("a.c", text, &new);
        assert_eq!(
            patch,
            "--- a/a.c\n+++ b/a.c\n@@ -1,7 +1,8 @@\n void f(void) {\n+    atomic_thread_fence(memory_order_seq_cst);\n     x = 1;\n     if (a)\n-        y = 2;\n+        { atomic_thread_fence(memory_order_acquire); y = 2; }\n-    z(memory_order_relaxed,\n+    z(memory_order_acquire,\n       memory_order_relaxed);\n }\n"
        );
    }

    #[test]
    fn fences_by_columns() {
        let text = "void f(void) { x = 1; y = 2; while (!z) ; if (a && b) c(); }\r\n";
        let mut source = Source::new("a.c", text.to_owned());
        for column in [25, 38, 52] {
            let spot = source.spot(&at(1, column)).expect("a statement");
            source.fences.insert(spot, true);
        }
        let fence = "__atomic_thread_fence(__ATOMIC_SEQ_CST)";
        let expected = format!(
            "void f(void) {{ x = 1; {fence}; y = 2; while ({fence}, !z) ; if (a && ({fence}, b)) c(); }}\r\n"
        );
        assert_eq!(source.finish(), expected);
        let mut source =
            Source::new("a.cpp", "#include <atomic>\r\nvoid f() {\r\n  x = 1;\r\n}\r\n".to_owned());
        let spot = source.spot(&at(3, 5)).expect("a statement");
        source.fences.insert(spot, false);
        assert!(
            source.finish().contains("{\r\n  std::atomic_thread_fence(std::memory_order_acquire);\r\n  x")
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

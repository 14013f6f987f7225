//! Changes in the text of LLVM IR: fences put in, orders made stronger. Everything else stays as it is, byte by byte.
//!
//! Fences are intrinsics of the target, which no pass of LLVM moves, merges or weakens on its way to the instruction:
//! `@llvm.x86.sse2.mfence()`, `@llvm.aarch64.dmb(i32 9|10|11)`, `@llvm.arm.dmb(i32 10|11)`. (A `fence release` would let other
//! accesses cross it that `dmb ishst` does not.) A fence on an edge between two blocks that have other edges gets a block of its
//! own, with a name: numbers of unnamed values don't change.

use super::code::{Code, File};
use super::inline::Site;
use super::lexer::{Token, Word, words};
use super::lower::Ported;
use super::module::{Function, Instruction, Op, Terminator};
use crate::change::{Change, Strength};
use crate::machine::{Fence, Machine};
use crate::mapping::Features;
use crate::program::Point;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A change, as a place in the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Edit {
    /// A fence.
    Fence(Site, Fence),
    /// A stronger order.
    Strengthen(Site, Strength),
}

impl Edit {
    /// The instruction or the edge that it is about.
    pub fn site(self) -> Site {
        match self {
            Edit::Fence(site, _) | Edit::Strengthen(site, _) => site,
        }
    }

    /// The number of the file.
    pub fn file(self) -> u32 {
        match self.site() {
            Site::Before { function, .. } | Site::Edge { function, .. } => function.file,
        }
    }
}

/// The places of changes in the text, each once. `None` if one of them has none, which no front end of ours makes.
pub fn edits(code: &Code, ported: &Ported, changes: &[Change]) -> Option<Vec<Edit>> {
    let node = |function: usize, node: usize| ported.program.functions.get(function)?.nodes.get(node);
    let mut out = BTreeSet::new();
    for change in changes {
        let edit = match *change {
            Change::Insert { at: Point::Before { function, node: number }, fence } => {
                Edit::Fence(*ported.sites.get(node(function, number)?.tag as usize)?, fence)
            }
            Change::Insert { at: Point::On { function, from, edge }, fence } => {
                let site = *ported.sites.get(node(function, from)?.tag as usize)?;
                Edit::Fence(edge_of(code, site, edge)?, fence)
            }
            Change::Strengthen { function, node: number, to } => {
                Edit::Strengthen(*ported.sites.get(node(function, number)?.tag as usize)?, to)
            }
        };
        out.insert(edit);
    }
    Some(out.into_iter().collect())
}

/// The edge with this number out of the block that ends at a site.
fn edge_of(code: &Code, site: Site, edge: usize) -> Option<Site> {
    let Site::Before { function, block, .. } = site else { return Some(site) };
    let to = *code.function(function)?.blocks.get(block as usize)?.successors().get(edge)?;
    Some(Site::Edge { function, from: block, to: to as u32 })
}

/// The text of a file with changes made for a machine. `None` if an instruction is not what the change is meant for.
pub fn apply(
    code: &Code,
    number: u32,
    edits: &[Edit],
    machine: Machine,
    features: Features,
) -> Option<String> {
    let file = code.files.get(number as usize)?;
    let mut patch = Patch { file, features, replace: BTreeMap::new(), declare: None, blocks: 0 };
    let mut fences: BTreeMap<Site, Fence> = BTreeMap::new();
    let mut stronger: BTreeMap<Site, Vec<Strength>> = BTreeMap::new();
    for edit in edits.iter().filter(|edit| edit.file() == number) {
        match *edit {
            // Two fences at one place are one: load and store fences together are a full one.
            Edit::Fence(site, fence) => {
                let strongest = |old: &mut Fence| *old = if *old == fence { fence } else { Fence::Full };
                fences.entry(site).and_modify(strongest).or_insert(fence);
            }
            Edit::Strengthen(site, strength) => stronger.entry(site).or_default().push(strength),
        }
    }
    for (site, strengths) in stronger {
        patch.strengthen(code, site, &strengths)?;
    }
    for (site, fence) in fences {
        let (call, declaration) = instruction(machine, fence)?;
        patch.declare = Some(declaration);
        patch.insert(code, site, &call)?;
    }
    Some(patch.finish())
}

/// The call that becomes a fence instruction, and what must be declared for it.
fn instruction(machine: Machine, fence: Fence) -> Option<(String, &'static str)> {
    let number = match fence {
        Fence::Load => 9,
        Fence::Store => 10,
        Fence::Full => 11,
    };
    match machine {
        Machine::Sc => None,
        Machine::X86 => {
            Some(("call void @llvm.x86.sse2.mfence()".to_owned(), "declare void @llvm.x86.sse2.mfence()"))
        }
        Machine::ArmV8 => Some((
            format!("call void @llvm.aarch64.dmb(i32 {number})"),
            "declare void @llvm.aarch64.dmb(i32)",
        )),
        // No `ishld` there.
        Machine::ArmV7 => {
            let number = if fence == Fence::Store { number } else { 11 };
            Some((format!("call void @llvm.arm.dmb(i32 {number})"), "declare void @llvm.arm.dmb(i32)"))
        }
    }
}

struct Patch<'a> {
    file: &'a File,
    features: Features,
    /// What comes in place of which bytes; several changes at one place in their order.
    replace: BTreeMap<(usize, usize), Vec<String>>,
    declare: Option<&'static str>,
    /// How many blocks were made.
    blocks: usize,
}

impl<'a> Patch<'a> {
    fn put(&mut self, range: Range<usize>, text: String) {
        self.replace.entry((range.start, range.end)).or_default().push(text);
    }

    /// The words of an instruction.
    fn words(&self, instruction: &Instruction) -> Vec<Token<'a>> {
        let mut out = Vec::new();
        // It was read before, so it ends.
        let _ = words(&self.file.text, instruction.span.clone(), &mut out);
        out
    }

    fn name(&self, instruction: &Instruction) -> &'a str {
        let text = &self.file.text[instruction.span.clone()];
        let text = text.split_once(" = ").filter(|_| text.starts_with('%')).map_or(text, |(_, rest)| rest);
        text.split([' ', ',']).next().unwrap_or_default()
    }

    fn insert(&mut self, code: &Code, site: Site, call: &str) -> Option<()> {
        match site {
            Site::Before { function, block, index } => {
                let function = code.function(function)?;
                self.before(function, block as usize, index as usize, call)
            }
            Site::Edge { function, from, to } => {
                let function = code.function(function)?;
                let (from, to) = (from as usize, to as usize);
                let into =
                    function.blocks.iter().flat_map(|block| block.successors()).filter(|&t| t == to).count();
                let last = function.blocks.get(from)?.body.len().checked_sub(1)?;
                let is_call = function.blocks[from].body[last].op.call().is_some();
                if into == 1 && to != 0 {
                    self.before(function, to, 0, call)
                } else if function.blocks[from].successors().len() == 1 && !is_call {
                    self.before(function, from, last, call)
                } else {
                    self.split(function, from, to, call)
                }
            }
        }
    }

    /// In front of an instruction, behind what must come first in a block, and not between a `musttail` call and its `ret`.
    fn before(&mut self, function: &Function, block: usize, index: usize, call: &str) -> Option<()> {
        let body = &function.blocks.get(block)?.body;
        let mut index = index;
        while matches!(self.name(body.get(index)?), "phi" | "landingpad" | "catchpad" | "cleanuppad") {
            index += 1;
        }
        if index > 0 && self.name(&body[index - 1]) == "musttail" {
            index -= 1;
        }
        let at = body[index].span.start;
        self.put(at..at, format!("{call}\n  "));
        Some(())
    }

    /// A block of its own between two others.
    fn split(&mut self, function: &Function, from: usize, to: usize, call: &str) -> Option<()> {
        let (source, target) = (function.blocks.get(from)?, function.blocks.get(to)?);
        let last = source.body.last()?;
        let unwinds =
            matches!(&last.op, Op::Terminator(Terminator::Invoke(_, _, exception)) if *exception == to);
        if unwinds {
            return None;
        }
        let mut name;
        loop {
            name = format!("seqcst.edge.{}", self.blocks);
            self.blocks += 1;
            if !function.blocks.iter().any(|block| block.label == name) {
                break;
            }
        }
        let label = |token: &Token, label: &str| matches!(token.word, Word::Local(name) if name == label);
        let tokens = self.words(last);
        for pair in tokens.windows(2) {
            if pair[0].word == Word::Plain("label") && label(&pair[1], &target.label) {
                let at = pair[1].at;
                self.put(at..at + written(&self.file.text[at..])?, format!("%{name}"));
            }
        }
        for phi in target.body.iter().take_while(|instruction| matches!(instruction.op, Op::Phi(_))) {
            self.reroute(phi, &source.label, &name);
        }
        let jump = &self.file.text[last.span.clone()];
        let debug = jump.find("!dbg ").map(|at| jump[at..].split(',').next().unwrap_or_default().trim());
        let debug = debug.map_or(String::new(), |debug| format!(", {debug}"));
        let target_name = quoted(&target.label);
        let end = self.end_of(function)?;
        self.put(end..end, format!("\n{name}:\n  {call}\n  br label %{target_name}{debug}\n"));
        Some(())
    }

    /// Values that came from one block come from another now; from several edges of a `switch` they came several times.
    fn reroute(&mut self, phi: &Instruction, from: &str, to: &str) {
        let tokens = self.words(phi);
        let mut seen = false;
        for i in 0..tokens.len() {
            let is_label = matches!(tokens[i].word, Word::Local(name) if name == from)
                && tokens.get(i + 1).is_some_and(|next| next.word == Word::Sign(']'));
            if !is_label {
                continue;
            }
            let Some(length) = written(&self.file.text[tokens[i].at..]) else { continue };
            if !std::mem::replace(&mut seen, true) {
                self.put(tokens[i].at..tokens[i].at + length, format!("%{to}"));
                continue;
            }
            let open = tokens[..i].iter().rposition(|token| token.word == Word::Sign('['));
            let start = open.and_then(|open| tokens.get(open.checked_sub(1)?)).map(|comma| comma.at);
            if let Some(start) = start {
                self.put(start..tokens[i + 1].at + 1, String::new());
            }
        }
    }

    /// Where the body of a function ends: at the line of its closing brace.
    fn end_of(&self, function: &Function) -> Option<usize> {
        let last = function.blocks.last()?.body.last()?.span.end;
        let brace = self.file.text[last..].find("\n}")?;
        Some(last + brace + 1)
    }

    fn strengthen(&mut self, code: &Code, site: Site, strengths: &[Strength]) -> Option<()> {
        let Site::Before { function, block, index } = site else { return None };
        let instruction = code.function(function)?.blocks.get(block as usize)?.body.get(index as usize)?;
        let tokens = self.words(instruction);
        let orders: Vec<&Token> = tokens.iter().filter(|token| is_order(token.word)).collect();
        let features = self.features;
        let load = matches!(instruction.op, Op::Load { .. });
        let change = |patch: &mut Patch, token: &Token, allow_release: bool| {
            let Word::Plain(old) = token.word else { return };
            let all = strengths.iter().filter(|&&s| allow_release || s != Strength::Release);
            let new = all.fold(old, |order, &strength| stronger(order, strength, load, features));
            if new != old {
                patch.put(token.at..token.at + old.len(), new.to_owned());
            }
        };
        match (&instruction.op, &orders[..]) {
            (Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. }, [order]) => change(self, order, true),
            (Op::CompareExchange { .. }, [success, failure]) => {
                change(self, success, true);
                change(self, failure, false);
            }
            _ => return None,
        }
        Some(())
    }

    fn finish(self) -> String {
        let text = &self.file.text;
        let mut out = String::with_capacity(text.len() + 4096);
        let mut done = 0;
        for ((start, end), texts) in self.replace {
            out.push_str(text.get(done..start).unwrap_or_default());
            texts.iter().for_each(|text| out.push_str(text));
            done = end.max(done);
        }
        out.push_str(&text[done..]);
        if let Some(declaration) = self.declare {
            let name = declaration.trim_start_matches("declare void ");
            let name = name.split('(').next().unwrap_or_default();
            let declared =
                text.lines().any(|line| line.starts_with("declare") && line.contains(&format!("{name}(")));
            if !declared {
                out.push_str(&format!("\n{declaration}\n"));
            }
        }
        out
    }
}

/// The order that gives an access the instruction that is asked for.
pub(super) fn stronger(order: &str, strength: Strength, load: bool, features: Features) -> &str {
    match (order, strength) {
        // An acquire load is `ldapr` there.
        (_, Strength::Acquire) if load && features.rcpc => "seq_cst",
        ("unordered" | "monotonic", Strength::Release) => "release",
        ("unordered" | "monotonic", _) => "acquire",
        ("acquire", Strength::Release) | ("release", Strength::Acquire | Strength::AcquirePc) => "acq_rel",
        _ => order,
    }
}

fn is_order(word: Word) -> bool {
    matches!(word, Word::Plain("unordered" | "monotonic" | "acquire" | "release" | "acq_rel" | "seq_cst"))
}

/// How many bytes a name takes that begins here with its sign.
fn written(text: &str) -> Option<usize> {
    match text[1..].strip_prefix('"') {
        Some(rest) => Some(rest.find('"')? + 3),
        None => {
            let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '$'));
            Some(1 + text[1..].find(ends).unwrap_or(text.len() - 1))
        }
    }
}

/// A name as it must be written.
fn quoted(name: &str) -> String {
    match name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '$')) {
        true => name.to_owned(),
        false => format!("\"{name}\""),
    }
}

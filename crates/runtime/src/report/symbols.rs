//! From sites to frames, and from addresses to the names of variables. What was found once is kept.

use super::frames::Frame;
use super::modules::{Dwarf, Module, Modules};
use crate::context::{self, Site};
use addr2line::gimli;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Knows names.
#[derive(Default)]
pub struct Symbols {
    modules: Modules,
    by_pc: BTreeMap<usize, Vec<Frame>>,
}

// SAFETY: what can't be shared (lazily filled cells) is never shared: there is one, behind a lock.
unsafe impl Send for Symbols {}

impl Symbols {
    /// The frames of a site, innermost first, inlined ones included.
    pub fn stack(&mut self, site: Site) -> Vec<Frame> {
        context::frames(site).into_iter().flat_map(|pc| self.at(pc).to_vec()).collect()
    }

    /// The functions at the call before a return address.
    fn at(&mut self, pc: usize) -> &[Frame] {
        if !self.by_pc.contains_key(&pc) {
            let frames = find(&mut self.modules, pc.wrapping_sub(1));
            self.by_pc.insert(pc, frames);
        }
        &self.by_pc[&pc]
    }

    /// Two instructions that come from the same place in the source, inlined into the same functions. One that stands for
    /// several places comes from none.
    pub fn same_source(&mut self, pc: usize, other: usize) -> bool {
        if self.at(pc).iter().any(|frame| frame.near) {
            return false;
        }
        let places = |frames: &[Frame]| -> Vec<_> {
            frames.iter().map(|f| (f.function.clone(), f.file.clone(), f.line, f.column)).collect()
        };
        let place = places(self.at(pc));
        place.first().is_some_and(|(_, file, ..)| !file.is_empty()) && place == places(self.at(other))
    }

    /// The global variable at an address: `name` or `name+8`.
    pub fn variable(&mut self, address: usize) -> Option<String> {
        let module = self.modules.at(address)?;
        let (name, inside) = module.variable(module.offset(address))?;
        let name = demangled(name);
        Some(if inside == 0 { name } else { format!("{name}+{inside}") })
    }
}

fn find(modules: &mut Modules, address: usize) -> Vec<Frame> {
    let Some(module) = modules.at(address) else {
        return vec![Frame { offset: address as u64, ..Frame::default() }];
    };
    let offset = module.offset(address);
    let mut frames = described(module, offset).unwrap_or_default();
    let name = module.function(offset);
    if frames.is_empty() {
        frames.push(Frame::default());
    }
    let last = frames.len() - 1;
    for (index, frame) in frames.iter_mut().enumerate() {
        frame.module = module.path.clone();
        frame.offset = offset;
        frame.inlined = index < last;
        // Debug information that has lines only knows functions by short names or not at all.
        if !frame.inlined && !frame.function.contains("::") {
            match name.map(|name| (demangled(name), name)) {
                Some((full, name)) if full != name || frame.function.is_empty() => frame.function = full,
                _ => {}
            }
        }
    }
    frames
}

/// The name as people write it. Names that aren't mangled stay as they are: C++ has types with names like `x`.
fn demangled(name: &str) -> String {
    if !name.starts_with("_Z") && !name.starts_with("_R") {
        return name.to_owned();
    }
    addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
}

/// What the debug information says.
fn described(module: &mut Module, offset: u64) -> Result<Vec<Frame>, gimli::Error> {
    let Some(dwarf) = module.dwarf() else { return Ok(Vec::new()) };
    let mut frames = frames_at(dwarf, offset)?;
    for index in 0..frames.len() {
        if frames[index].line == 0 {
            nearest_line(dwarf, offset, &mut frames, index)?;
        }
    }
    Ok(frames)
}

/// Code that stands for several places has no line (0): one near it, of the same function inlined in the same place, those
/// before first. It is shown as that. Without any, the file alone would say little: the function and the module say more.
fn nearest_line(dwarf: &Dwarf, offset: u64, frames: &mut [Frame], index: usize) -> Result<(), gimli::Error> {
    const FAR: u64 = 1 << 12;
    let rows = |from, to| -> Result<Vec<u64>, gimli::Error> {
        let rows = dwarf.find_location_range(from, to)?;
        Ok(rows.filter(|row| row.2.line.is_some_and(|line| line != 0)).map(|row| row.0).collect())
    };
    let before = rows(offset.saturating_sub(FAR), offset)?;
    let after = rows(offset, offset + FAR)?;
    let outer = frames.len() - index;
    for at in before.into_iter().rev().chain(after) {
        let others = frames_at(dwarf, at)?;
        let Some(others) = others.len().checked_sub(outer).map(|inner| &others[inner..]) else { continue };
        let same = others.iter().zip(&frames[index..]).all(|(one, other)| one.function == other.function);
        if same && others[0].line != 0 {
            let Frame { file, line, .. } = others[0].clone();
            frames[index] = Frame { file, line, column: 0, near: true, ..std::mem::take(&mut frames[index]) };
            return Ok(());
        }
    }
    frames[index].file.clear();
    Ok(())
}

fn frames_at(dwarf: &Dwarf, offset: u64) -> Result<Vec<Frame>, gimli::Error> {
    let mut found = dwarf.find_frames(offset).skip_all_loads()?;
    let mut frames = Vec::new();
    while let Some(frame) = found.next()? {
        let function = frame.function.as_ref().and_then(|name| Some(demangled(&name.raw_name().ok()?)));
        let location = frame.location.as_ref();
        frames.push(Frame {
            function: function.unwrap_or_default(),
            file: location.and_then(|location| location.file).unwrap_or_default().to_owned(),
            line: location.and_then(|location| location.line).unwrap_or(0),
            column: location.and_then(|location| location.column).unwrap_or(0),
            ..Frame::default()
        });
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::arch::asm;
    use core::sync::atomic::AtomicU64;

    static COUNTER: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

    #[inline(always)]
    fn inner() -> usize {
        let pc: usize;
        // SAFETY: reads the instruction pointer.
        unsafe { asm!("lea {}, [rip]", out(reg) pc) };
        pc
    }

    #[inline(never)]
    fn outer() -> (usize, u32) {
        (inner(), line!())
    }

    #[test]
    fn inlined_functions() {
        let (pc, line) = outer();
        let mut symbols = Symbols::default();
        let frames = symbols.stack(context::bare_site(pc));
        assert_eq!(frames.len(), 2, "{frames:#?}");
        assert!(frames[0].function.ends_with("inner") && frames[0].inlined);
        assert!(frames[1].function.ends_with("outer") && !frames[1].inlined);
        assert!(frames[1].file.ends_with("symbols.rs") && frames[1].line == line && frames[1].column > 0);
        assert!(!frames[1].module.is_empty() && frames[1].offset > 0);
        assert_eq!(symbols.stack(context::bare_site(pc)), frames);
    }

    #[test]
    fn unknown_places() {
        let mut symbols = Symbols::default();
        assert_eq!(symbols.stack(Site::UNKNOWN), []);
        let frames = symbols.stack(context::bare_site(0x11));
        assert_eq!(frames, [Frame { offset: 0x10, ..Frame::default() }]);
    }

    #[test]
    fn names() {
        assert_eq!(demangled("x"), "x");
        assert_eq!(demangled("main"), "main");
        assert_eq!(demangled("_ZN5queue4pushEi"), "queue::push(int)");
        assert_eq!(demangled("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(demangled("_RNvC6_123foo3bar"), "123foo::bar");
        assert_eq!(demangled("_Zwrong"), "_Zwrong");
    }

    #[test]
    fn variables() {
        let mut symbols = Symbols::default();
        let name = symbols.variable(&raw const COUNTER[1] as usize).unwrap();
        assert!(name.ends_with("::COUNTER+8"), "{name}");
        assert_eq!(symbols.variable(&raw const symbols as usize), None);
    }
}

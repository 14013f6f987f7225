//! State that is kept from one execution to the next: which statics of the program have changed?
//!
//! What the model knows of begins anew with each execution; a static of the standard library's types doesn't, and nobody
//! tells us when it changes. So its memory is looked at: the program's writable data, as it was before the first model
//! and before and after an execution. Names come from the symbol table of the executable.

use object::{Object, ObjectSymbol, SymbolKind};
use std::io::{Read, Seek, SeekFrom};
use std::sync::OnceLock;

/// The program's writable data.
#[derive(Clone, Debug, Default)]
pub struct Snapshot(Vec<(u64, Vec<u8>)>);

/// A static that has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// Its name, with its path.
    pub name: String,
    /// Its address.
    pub address: u64,
}

/// As it was before the first model of this process.
pub fn first() -> &'static Snapshot {
    static FIRST: OnceLock<Snapshot> = OnceLock::new();
    FIRST.get_or_init(Snapshot::take)
}

impl Snapshot {
    /// As it is now; nothing where that can't be had.
    pub fn take() -> Snapshot {
        read().unwrap_or_default()
    }

    /// The statics that are not what they were, apart from those that aren't the program's.
    pub fn changed(&self, now: &Snapshot) -> Vec<Changed> {
        let mut places = Vec::new();
        for ((start, before), (_, after)) in self.0.iter().zip(&now.0) {
            let differ = before.iter().zip(after).enumerate().filter(|(_, (before, after))| before != after);
            places.extend(differ.map(|(at, _)| start + at as u64));
        }
        if places.is_empty() { Vec::new() } else { named(&places).unwrap_or_default() }
    }
}

/// Where the executable is: the writable parts, and how far it was moved.
fn mapped() -> Option<(Vec<(u64, u64)>, u64)> {
    let own = std::fs::read_link("/proc/self/exe").ok()?;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let (mut parts, mut base, mut last) = (Vec::new(), None, 0);
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (range, flags) = (words.next()?, words.next()?);
        let (from, to) = range.split_once('-')?;
        let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
        let name = words.nth(3);
        let is_own = name.is_some_and(|name| own.as_os_str() == name);
        if is_own {
            base.get_or_insert(from);
        }
        // What begins as zero comes right behind, without a name.
        let is_zero = name.is_none() && last == from;
        if flags.starts_with("rw") && (is_own || is_zero) {
            parts.push((from, to));
        }
        if is_own || is_zero {
            last = to;
        }
    }
    Some((parts, base?))
}

fn read() -> Option<Snapshot> {
    let (parts, _) = mapped()?;
    let mut memory = std::fs::File::open("/proc/self/mem").ok()?;
    let mut all = Vec::new();
    for (from, to) in parts {
        let mut bytes = vec![0; usize::try_from(to - from).ok()?];
        memory.seek(SeekFrom::Start(from)).ok()?;
        memory.read_exact(&mut bytes).ok()?;
        all.push((from, bytes));
    }
    Some(Snapshot(all))
}

fn named(places: &[u64]) -> Option<Vec<Changed>> {
    let file = std::fs::read("/proc/self/exe").ok()?;
    let file = object::File::parse(&*file).ok()?;
    let (_, base) = mapped()?;
    // Executables that can be anywhere begin at 0.
    let moved = if file.kind() == object::ObjectKind::Dynamic { base } else { 0 };
    let mut changed: Vec<Changed> = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0) {
        let from = symbol.address() + moved;
        let at = places.partition_point(|&place| place < from);
        if places.get(at).is_none_or(|&place| place >= from + symbol.size()) {
            continue;
        }
        let name = format!("{:#}", rustc_demangle::demangle(symbol.name().unwrap_or_default()));
        if !is_foreign(&name) {
            changed.push(Changed { name, address: from });
        }
    }
    changed.sort_by(|a, b| a.name.cmp(&b.name));
    changed.dedup_by(|a, b| a.name == b.name);
    Some(changed)
}

/// The standard library's own, the test harness's, ours, the C library's.
fn is_foreign(name: &str) -> bool {
    const FOREIGN: [&str; 8] =
        ["std::", "core::", "alloc::", "test::", "seqcst::", "std_detect::", "hashbrown::", "corosensei::"];
    let path = name.trim_start_matches('<');
    !name.contains("::") || FOREIGN.iter().any(|foreign| path.starts_with(foreign))
}

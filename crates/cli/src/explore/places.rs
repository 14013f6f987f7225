//! From addresses in a running program to lines in its source and names of its variables.

use addr2line::Loader;
use object::{Object, ObjectSegment};
use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// The file, or empty.
    pub file: String,
    /// The line, from 1; 0 if it isn't known.
    pub line: u32,
    /// The column, from 1; 0 if it isn't known.
    pub column: u32,
    /// The function, or empty.
    pub function: String,
    /// The line is only the nearest one that is known.
    pub near: bool,
}

impl Place {
    /// `a.c:3:5 in f`
    pub fn show(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        let file = match (file, self.line, self.column) {
            ("", ..) => String::new(),
            (file, 0, _) => file.to_owned(),
            (file, line, _) if self.near => format!("near {file}:{line}"),
            (file, line, 0) => format!("{file}:{line}"),
            (file, line, column) => format!("{file}:{line}:{column}"),
        };
        match (file.as_str(), self.function.as_str()) {
            ("", "") => String::new(),
            (file, "") => file.to_owned(),
            ("", function) => format!("in {function}"),
            (file, function) => format!("{file} in {function}"),
        }
    }
}

/// The executable and the libraries of a process.
pub struct Places {
    modules: Vec<Module>,
}

/// A file that is mapped.
struct Module {
    file: PathBuf,
    /// What has to be taken off an address to get one of the file.
    bias: u64,
    /// Addresses in the process.
    range: std::ops::Range<u64>,
    loader: OnceCell<Option<Loader>>,
}

impl Places {
    /// Reads where what is mapped. Nothing is known about a process that is gone.
    pub fn new(process: u32) -> Places {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let mut modules: Vec<Module> = Vec::new();
        for line in maps.lines() {
            let Some((start, file)) = first_mapping(line) else { continue };
            if modules.iter().all(|module| module.file != file) {
                modules.extend(Module::new(file, start));
            }
        }
        Places { modules }
    }

    fn module(&self, address: u64) -> Option<(&Loader, u64)> {
        let module = self.modules.iter().find(|module| module.range.contains(&address))?;
        let load = || Loader::new(&module.file).ok();
        Some((module.loader.get_or_init(load).as_ref()?, address - module.bias))
    }

    /// The place of the call that returns to this address. Code that stands for several places has no line: the nearest
    /// one of the same function, those before first.
    pub fn code(&self, address: u64) -> Place {
        const FAR: u64 = 1 << 12;
        let Some((loader, at)) = self.module(address.saturating_sub(1)) else { return Place::default() };
        let place = place(loader, at);
        if place.line != 0 || place.file.is_empty() {
            return place;
        }
        let rows = |from, to| -> Vec<u64> {
            let rows = loader.find_location_range(from, to).into_iter().flatten();
            rows.filter(|row| row.2.line.is_some_and(|line| line != 0)).map(|row| row.0).collect()
        };
        let near = rows(at.saturating_sub(FAR), at).into_iter().rev().chain(rows(at, at + FAR));
        let same = |other: &Place| other.line != 0 && other.function == place.function;
        let found = near.map(|at| self::place(loader, at)).find(same);
        match found {
            Some(found) => Place { column: 0, near: true, ..found },
            None => Place { file: String::new(), ..place },
        }
    }

    /// The variable at this address, if it has a name: `x`, `x+8`.
    pub fn variable(&self, address: u64) -> Option<String> {
        // Not a neighbour that belongs to the C runtime, or to ours.
        self.symbol(address)
            .filter(|name| !name.starts_with("completed.0") && !name.contains("seqcst_runtime"))
    }

    fn symbol(&self, address: u64) -> Option<String> {
        let (loader, at) = self.module(address)?;
        let symbol = loader.find_symbol_info(at)?;
        let name = demangled(symbol.name());
        match at - symbol.address() {
            0 => Some(name),
            offset if offset < 1 << 16 => Some(format!("{name}+{offset}")),
            _ => None,
        }
    }
}

/// The place of an address of the file, as the debug information has it.
fn place(loader: &Loader, at: u64) -> Place {
    let mut place = Place::default();
    if let Ok(mut frames) = loader.find_frames(at) {
        // The innermost frame that stands in the program, not in a header of the compiler's.
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else { continue };
            let file = location.file.unwrap_or_default();
            if !place.file.is_empty() && !is_foreign(&place.file) {
                break;
            }
            place.file = file.to_owned();
            place.line = location.line.unwrap_or_default();
            place.column = location.column.unwrap_or_default();
            let name = frame.function.as_ref().and_then(|name| Some(name.demangle().ok()?.into_owned()));
            place.function = name.unwrap_or_default();
        }
    }
    if place.function.is_empty() {
        place.function = loader.find_symbol(at).map(demangled).unwrap_or_default();
    }
    place
}

/// Headers of compilers and standard libraries, from which functions are inlined.
fn is_foreign(file: &str) -> bool {
    file.starts_with("/usr/") || file.starts_with("/rustc/") || file.contains("/rustlib/src/")
}

fn demangled(name: &str) -> String {
    // `x` is a name in C, and a type to who demangles.
    let mangled = name.starts_with("_Z") || name.starts_with("_R");
    if mangled { addr2line::demangle_auto(name.into(), None).into_owned() } else { name.to_owned() }
}

/// `7f00-7f10 r--p 00000000 08:01 123 /lib/x.so`: the address of the file's beginning.
fn first_mapping(line: &str) -> Option<(u64, PathBuf)> {
    let mut words = line.splitn(6, ' ');
    let (range, _, offset) = (words.next()?, words.next()?, words.next()?);
    let file = words.nth(2)?.trim_start();
    let start = u64::from_str_radix(range.split_once('-')?.0, 16).ok()?;
    let is_start = u64::from_str_radix(offset, 16).ok()? == 0;
    (is_start && file.starts_with('/')).then(|| (start, file.into()))
}

impl Module {
    fn new(file: PathBuf, start: u64) -> Option<Module> {
        let data = fs::read(&file).ok()?;
        let parsed = object::File::parse(&*data).ok()?;
        let segments = || parsed.segments().map(|segment| (segment.address(), segment.size()));
        let first = segments().map(|(address, _)| address).min()?;
        let end = segments().map(|(address, size)| address.saturating_add(size)).max()?;
        // The first segment begins in the page that the file's beginning is mapped to.
        let bias = start.checked_sub(first & !0xfff)?;
        let range = start..bias.saturating_add(end);
        Some(Module { file, bias, range, loader: OnceCell::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SOMETHING: u64 = 1;

    #[test]
    fn our_own_places() {
        let places = Places::new(std::process::id());
        let here = our_own_places as *const () as u64 + 1;
        assert!(places.code(here).function.contains("our_own_places"), "{:?}", places.code(here));
        assert!(places.code(here).file.ends_with("places.rs"));
        let variable = places.variable(&raw const SOMETHING as u64).unwrap_or_default();
        assert!(variable.contains("SOMETHING"), "{variable}");
        assert_eq!(places.code(12), Place::default());
    }

    #[test]
    fn places_are_short() {
        let mut place =
            Place { file: "/a/b.c".to_owned(), line: 3, column: 5, function: "f".to_owned(), near: false };
        assert_eq!(place.show(), "b.c:3:5 in f");
        place.column = 0;
        assert_eq!(place.show(), "b.c:3 in f");
        assert_eq!(Place::default().show(), "");
    }
}

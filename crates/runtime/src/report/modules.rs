//! The executable and its libraries as they lie in memory: which file an address belongs to, and what the file says.
//!
//! Modules are found in `/proc/self/maps`, read by system calls alone: the dynamic loader's own list is under a lock
//! that somebody may hold. Files are mapped and stay so. Debug information that lies in a file of its own is found by
//! the build id.

use crate::sys;
use addr2line::{Context, gimli};
use core::ffi::CStr;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::ffi::CString;

type Bytes = &'static [u8];
type Elf = object::read::elf::ElfFile64<'static>;
pub type Dwarf = Context<gimli::EndianSlice<'static, gimli::LittleEndian>>;

/// A file that is mapped at some place.
pub struct Module {
    /// The file.
    pub path: String,
    /// Address in memory minus address in the file.
    bias: u64,
    /// Lowest and highest address in the file.
    extent: (u64, u64),
    elf: Elf,
    details: Option<Details>,
}

/// What is read when it is first asked for.
struct Details {
    dwarf: Option<Dwarf>,
    /// Functions and variables, by address.
    symbols: Vec<Symbol>,
}

struct Symbol {
    address: u64,
    size: u64,
    code: bool,
    name: &'static str,
}

/// All modules.
#[derive(Default)]
pub struct Modules {
    list: Vec<Module>,
}

impl Modules {
    /// The module at an address. Looks again at what is mapped if it is in none that is known.
    pub fn at(&mut self, address: usize) -> Option<&mut Module> {
        let within = |module: &Module| module.contains(address as u64);
        if !self.list.iter().any(within) {
            self.refresh();
        }
        self.list.iter_mut().find(|module| within(module))
    }

    fn refresh(&mut self) {
        let maps = sys::read_file(c"/proc/self/maps").unwrap_or_default();
        let mut old = core::mem::take(&mut self.list);
        for (start, offset, path) in String::from_utf8_lossy(&maps).lines().filter_map(code_mapping) {
            let known = |module: &Module| module.path == path && module.contains(start);
            if let Some(index) = old.iter().position(known) {
                self.list.push(old.swap_remove(index));
            } else if !self.list.iter().any(known)
                && let Some(module) = Module::open(path, start, offset)
            {
                self.list.push(module);
            }
        }
    }
}

/// Start, offset in the file, and path of a line of `/proc/self/maps`, if it is a file's code.
fn code_mapping(line: &str) -> Option<(u64, u64, &str)> {
    let path = &line[line.find('/')?..];
    let mut fields = line.split_ascii_whitespace();
    let (start, _) = fields.next()?.split_once('-')?;
    let executable = fields.next()?.contains('x');
    let offset = fields.next()?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    executable.then_some((number(start)?, number(offset)?, path))
}

/// A whole file, mapped for good.
fn map_file(path: &CStr) -> Option<Bytes> {
    let fd = sys::open(path, sys::O_RDONLY).ok()?;
    let mapped = sys::file_size(fd).ok().filter(|&size| size > 0).and_then(|size| {
        let start = sys::mmap_file(fd, size).ok()?;
        // SAFETY: mapped for reading and never unmapped. If the file shrinks there is a fault, as with every debugger.
        Some(unsafe { core::slice::from_raw_parts(start, size) })
    });
    sys::close(fd);
    mapped
}

fn parse(path: &str) -> Option<Elf> {
    // An executable that was replaced while it runs can still be reached.
    let bytes = match path.strip_suffix(" (deleted)") {
        Some(path) if sys::readlink(c"/proc/self/exe").is_ok_and(|exe| exe.starts_with(path.as_bytes())) => {
            map_file(c"/proc/self/exe")
        }
        _ => map_file(&CString::new(path).ok()?),
    };
    Elf::parse(bytes?).ok()
}

impl Module {
    /// The file whose code at `offset` is mapped at `start`. The end of another segment may lie on the same page.
    fn open(path: &str, start: u64, offset: u64) -> Option<Module> {
        const PAGE: u64 = 4096;
        let elf = parse(path)?;
        let covers = |segment: &object::read::elf::ElfSegment64<'_, '_>| {
            let (from, size) = segment.file_range();
            segment.permissions().executable() && (from / PAGE * PAGE..from + size).contains(&offset)
        };
        let segment = elf.segments().find(covers)?;
        let at_offset = segment.address().wrapping_add(offset).wrapping_sub(segment.file_range().0);
        let bias = start.wrapping_sub(at_offset);
        let low = elf.segments().map(|segment| segment.address()).min()?;
        let high = elf.segments().map(|segment| segment.address().saturating_add(segment.size())).max()?;
        Some(Module { path: path.to_owned(), bias, extent: (low, high), elf, details: None })
    }

    fn contains(&self, address: u64) -> bool {
        (self.extent.0..self.extent.1).contains(&address.wrapping_sub(self.bias))
    }

    /// The address as the file has it.
    pub fn offset(&self, address: usize) -> u64 {
        (address as u64).wrapping_sub(self.bias)
    }

    fn details(&mut self) -> &Details {
        let elf = &self.elf;
        self.details.get_or_insert_with(|| {
            let separate =
                if elf.section_by_name(".debug_info").is_none() { separate_debug(elf) } else { None };
            let rich = separate.as_ref().unwrap_or(elf);
            let mut symbols = symbols(rich.symbols());
            if symbols.is_empty() {
                symbols = self::symbols(elf.symbols().chain(elf.dynamic_symbols()));
            }
            Details { dwarf: dwarf(rich), symbols }
        })
    }

    /// The debug information.
    pub fn dwarf(&mut self) -> Option<&Dwarf> {
        self.details().dwarf.as_ref()
    }

    /// The mangled name of the function at an address of the file.
    pub fn function(&mut self, offset: u64) -> Option<&'static str> {
        self.symbol(offset, true).map(|symbol| symbol.name)
    }

    /// The mangled name of the variable at an address of the file, and how far into it the address is.
    pub fn variable(&mut self, offset: u64) -> Option<(&'static str, u64)> {
        self.symbol(offset, false).map(|symbol| (symbol.name, offset - symbol.address))
    }

    fn symbol(&mut self, offset: u64, code: bool) -> Option<&Symbol> {
        let symbols = &self.details().symbols;
        let end = symbols.partition_point(|symbol| symbol.address <= offset);
        let near = symbols[..end].iter().rev().take(64).filter(|symbol| symbol.code == code);
        // Functions in assembly may have no size.
        let mut fitting = near.filter(|s| offset - s.address < s.size || (code && s.size == 0));
        fitting.next()
    }
}

fn symbols<'a>(all: impl Iterator<Item = object::read::elf::ElfSymbol64<'static, 'a>>) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = all
        .filter(|symbol| {
            matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data) && symbol.is_definition()
        })
        .filter_map(|symbol| {
            let (address, size) = (symbol.address(), symbol.size());
            let name = symbol.name().ok().filter(|name| !name.is_empty())?;
            Some(Symbol { address, size, code: symbol.kind() == SymbolKind::Text, name })
        })
        .collect();
    symbols.sort_by_key(|symbol| symbol.address);
    symbols
}

/// Debian and others put debug information into packages of their own.
fn separate_debug(elf: &Elf) -> Option<Elf> {
    let id = elf.build_id().ok()??;
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    parse(&format!("/usr/lib/debug/.build-id/{}/{}.debug", hex.get(..2)?, hex.get(2..)?))
}

fn dwarf(elf: &Elf) -> Option<Dwarf> {
    let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let data = elf.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        // Sections that were compressed are kept for good.
        let bytes: Bytes = match data {
            Some(std::borrow::Cow::Borrowed(bytes)) => bytes,
            Some(std::borrow::Cow::Owned(bytes)) => Vec::leak(bytes),
            None => &[],
        };
        Ok(gimli::EndianSlice::new(bytes, gimli::LittleEndian))
    };
    elf.section_by_name(".debug_info")?;
    Context::from_dwarf(gimli::Dwarf::load(load).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    static VARIABLE: [u32; 4] = [1, 2, 3, 4];

    #[test]
    fn maps() {
        let line = "55d0c0a00000-55d0c0a02000 r-xp 00001000 fe:00 1234   /a dir/program (deleted)";
        assert_eq!(code_mapping(line), Some((0x55d0_c0a0_0000, 0x1000, "/a dir/program (deleted)")));
        assert_eq!(code_mapping("7ffe-7fff rw-p 00000000 00:00 0 [stack]"), None);
        assert_eq!(code_mapping("7ffe-7fff rw-p 00000000 00:00 0 /lib/x.so"), None);
    }

    #[test]
    fn this_program() {
        let mut modules = Modules::default();
        let module = modules.at(code_mapping as *const () as usize).unwrap();
        assert_eq!(module.path.as_bytes(), sys::readlink(c"/proc/self/exe").unwrap());
        let offset = module.offset(code_mapping as *const () as usize);
        assert!(module.function(offset).unwrap().contains("code_mapping"));
        assert!(module.dwarf().is_some());
        let offset = module.offset(&raw const VARIABLE[2] as usize);
        let (name, inside) = module.variable(offset).unwrap();
        assert!(name.contains("VARIABLE"), "{name}");
        assert_eq!(inside, 8);
        assert!(modules.at(16).is_none());
    }

    #[test]
    fn a_library() {
        let mut modules = Modules::default();
        let module = modules.at(libc::getpid as *const () as usize).unwrap();
        assert!(module.path.contains("libc.so"), "{}", module.path);
        let offset = module.offset(libc::getpid as *const () as usize);
        assert!(module.function(offset).unwrap().contains("getpid"));
    }
}

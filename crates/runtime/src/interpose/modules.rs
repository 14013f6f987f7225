//! Libraries that come and go: their data starts anew, where another library or a thread's stack may have been.
//!
//! `dlopen` isn't interposed: where it looks for libraries depends on who calls it. But an instrumented library calls
//! `__tsan_init` before any other code of its own runs, and that leads to [`refresh`].

use crate::memory;
use crate::spin::Lock;
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

real! {
    fn dlclose(handle: *mut c_void) -> c_int;
}

/// The writable memory of a loaded library.
type Range = (usize, usize);

pub(super) static KNOWN: Lock<Known> = Lock::new(Known { changes: 0, ranges: Vec::new() });

/// What was loaded at the last look.
pub(super) struct Known {
    /// How many libraries were ever loaded and unloaded.
    changes: u64,
    ranges: Vec<Range>,
}

/// The code of libgcc, which unwinds stacks: from where to where.
static UNWINDER: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Is this address in libgcc?
#[inline]
pub fn is_unwinder(pc: usize) -> bool {
    let [from, to] = UNWINDER.each_ref().map(|end| end.load(Ordering::Relaxed));
    from <= pc && pc < to
}

/// Looks whether libraries have come or gone.
pub fn refresh() {
    let mut changes = 0;
    // SAFETY: the callback fits its argument.
    unsafe { libc::dl_iterate_phdr(Some(count_changes), (&raw mut changes).cast()) };
    let mut known = KNOWN.lock();
    if known.changes == changes {
        return;
    }
    let mut ranges: Vec<Range> = Vec::new();
    // SAFETY: the callback fits its argument.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut ranges).cast()) };
    ranges.sort_unstable();
    let first = known.changes == 0;
    let old = core::mem::replace(&mut *known, Known { changes, ranges: ranges.clone() }).ranges;
    drop(known);
    if first {
        return; // nothing was there before
    }
    for &(addr, size) in old.iter().filter(|range| ranges.binary_search(range).is_err()) {
        memory::unmapped(addr, size);
    }
    for &(addr, size) in ranges.iter().filter(|range| old.binary_search(range).is_err()) {
        memory::born(addr, size);
    }
}

/// Is there a variable of the program or of a library at this address?
pub fn have(addr: usize) -> bool {
    KNOWN.lock().ranges.iter().any(|&(first, size)| addr.wrapping_sub(first) < size)
}

/// The first library tells how many there were.
unsafe extern "C" fn count_changes(info: *mut libc::dl_phdr_info, _: usize, changes: *mut c_void) -> c_int {
    // SAFETY: `dl_iterate_phdr` gives the first, `refresh` the second.
    unsafe { *changes.cast::<u64>() = (*info).dlpi_adds + (*info).dlpi_subs };
    1
}

unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, ranges: *mut c_void) -> c_int {
    // SAFETY: `dl_iterate_phdr` gives the first, `refresh` the second.
    unsafe {
        let ranges = &mut *ranges.cast::<Vec<Range>>();
        let headers = core::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        let writable =
            |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0;
        let base = (*info).dlpi_addr as usize;
        let name = (*info).dlpi_name;
        if !name.is_null() && CStr::from_ptr(name).to_bytes().windows(8).any(|part| part == b"libgcc_s") {
            let code = headers
                .iter()
                .find(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
            if let Some(code) = code {
                let from = base + code.p_vaddr as usize;
                UNWINDER[1].store(from + code.p_memsz as usize, Ordering::Relaxed);
                UNWINDER[0].store(from, Ordering::Relaxed);
            }
        }
        let range = |header: &libc::Elf64_Phdr| (base + header.p_vaddr as usize, header.p_memsz as usize);
        ranges.extend(headers.iter().filter(writable).map(range));
    }
    0
}

/// In front of `dlclose`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_dlclose(handle: *mut c_void) -> c_int {
    // SAFETY: the caller's argument.
    let result = unsafe { real::dlclose(handle) };
    refresh();
    result
}

//! What makes copies of the process cheap: they should find in their memory what they need.
//!
//! `fork` copies no entries of page tables for mapped files, since faults can fill them in again. That is twenty faults or
//! more per execution, for code alone. It does copy them where the mapping has a page of its own; so each of them gets one.
//!
//! And every copy would number the same call paths anew (`context`). So it tells the server what it has numbered, and
//! later copies find it done.

use crate::context::{self, Numbered};
use crate::{chunks, sys};
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;

/// Larger files aren't worth it: what is copied must be given back, too.
const LARGE: usize = 8 << 20;
const MADV_POPULATE_READ: usize = 22;

/// What a copy tells the server, in memory that they share. One of them uses it at a time.
struct Lessons {
    many: Cell<usize>,
    lessons: [Cell<Numbered>; LESSONS],
}

/// Those that don't fit come next time.
const LESSONS: usize = 1000;

/// Once, before the first copy.
pub fn up() -> Warm {
    let maps = sys::read_file(c"/proc/self/maps").unwrap_or_default();
    for line in String::from_utf8_lossy(&maps).lines() {
        let Some((from, to, flags, name)) = mapping(line) else { continue };
        let is_file = name.starts_with('/') && to - from <= LARGE;
        match flags {
            "r--p" if is_file => own_a_page(from, to - from, libc::PROT_READ),
            "r-xp" if is_file => own_a_page(from, to - from, libc::PROT_READ | libc::PROT_EXEC),
            // Variables, the heap, the stack: there will be accesses.
            "rw-p" if is_file || name == "[heap]" || name == "[stack]" => {
                for at in [from, to - 1] {
                    chunks::chunk(at);
                }
            }
            _ => {}
        }
    }
    Warm { lessons: shared_memory(size_of::<Lessons>()).cast(), before: context::counts() }
}

/// Fresh memory that copies share, or null.
pub fn shared_memory(size: usize) -> *mut u8 {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as usize;
    // SAFETY: a new mapping, which replaces none.
    let memory = unsafe {
        sys::call(libc::SYS_mmap as usize, [sys::own_place(size), size, protection, flags, usize::MAX, 0])
    };
    memory.map_or(ptr::null_mut(), |at| at as *mut u8)
}

/// A process that is ready to be copied.
#[derive(Clone, Copy)]
pub struct Warm {
    lessons: *const Lessons,
    /// Call paths and sites that have numbers.
    before: (usize, usize),
}

impl Warm {
    /// In a copy, at its end: tells what it has learnt.
    pub fn teach(&self) {
        // SAFETY: null, or mapped for good, and all zero is a valid value.
        let Some(Lessons { many, lessons }) = (unsafe { self.lessons.as_ref() }) else { return };
        for (lesson, numbered) in lessons.iter().zip(context::numbered_since(self.before)) {
            lesson.set(numbered);
            many.set(many.get() + 1);
        }
    }

    /// In the server, after a copy has ended: learns what it has learnt.
    pub fn learn(&mut self) {
        // SAFETY: as above.
        let Some(Lessons { many, lessons }) = (unsafe { self.lessons.as_ref() }) else { return };
        let new = many.replace(0).min(LESSONS);
        lessons[..new].iter().for_each(|lesson| context::number(lesson.get()));
        self.before = context::counts();
    }
}

/// A line of `/proc/self/maps`: from where to where, how, and what.
fn mapping(line: &str) -> Option<(usize, usize, &str, &str)> {
    let mut words = line.split_ascii_whitespace();
    let (range, flags, name) = (words.next()?, words.next()?, words.nth(3)?);
    let (from, to) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some((number(from)?, number(to)?, flags, name))
}

fn own_a_page(at: usize, size: usize, protection: c_int) {
    let protect = |protection: c_int| {
        // SAFETY: more is allowed than before, or as much.
        unsafe { sys::call(libc::SYS_mprotect as usize, [at, size, protection as usize, 0, 0, 0]) }
    };
    let first = at as *mut u8;
    if protect(protection | libc::PROT_WRITE).is_err() {
        return;
    }
    // SAFETY: it can be written now, and there is one thread: nothing changes.
    unsafe { first.write_volatile(first.read_volatile()) };
    let _ = protect(protection);
    // SAFETY: reads memory that can be read.
    let _ = unsafe { sys::madvise(first, size, MADV_POPULATE_READ) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let line = "1000-3000 r-xp 00000000 00:00 7      /a b";
        assert_eq!(mapping(line), Some((0x1000, 0x3000, "r-xp", "/a")));
        for line in ["", "1000 r-xp 0 00:00 7 /a", "1000-x r-xp 0 00:00 7 /a", "1000-3000 rw-p 0 00:00 0"] {
            assert_eq!(mapping(line), None, "{line}");
        }
    }

    /// The code stays what it is.
    #[test]
    fn in_place() {
        crate::start();
        let mut warm = up();
        warm.teach();
        warm.learn();
        assert_eq!(warm.before, up().before);
    }
}

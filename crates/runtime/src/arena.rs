//! The runtime's own memory: blocks by size class from regions of the kernel's, never from the program's `malloc`.
//!
//! Without locks, so it can be used at any time: before libc and thread-local storage are initialised, inside signal
//! handlers (that interrupt an allocation too), in the child of a fork. Each class keeps its free blocks in a stack
//! whose head is one word: address and a tag that changes with every operation, so that a head that was popped and
//! pushed again in between is not mistaken for the old one. Free blocks stay mapped: reading the link of a block that
//! somebody else just took gives a wrong value, which the tag then rejects, but never a fault.
//! Large blocks are mapped and unmapped one by one. Memory of small blocks is reused, never returned.

use crate::sys;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

#[cfg(all(feature = "object", not(test)))]
#[global_allocator]
static ARENA: Arena = Arena;

/// The allocator.
pub struct Arena;

/// Larger blocks are mapped one by one.
const LARGEST: usize = 1 << 15;
const FIRST_REGION: usize = 1 << 20;
const LARGEST_REGION: usize = 1 << 24;
const PAGE: usize = 4096;

/// Blocks of one size.
struct Class {
    /// `address / 16 << 20 | tag`; addresses of the user half have 47 bits.
    free: AtomicU64,
    live: AtomicUsize,
}

const TAG_BITS: u32 = 20;
const TAG: u64 = (1 << TAG_BITS) - 1;

/// 16 to 128 in steps of 16, then four steps per doubling.
const CLASSES: usize = 8 + 8 * 4;
static PACKED: [Class; CLASSES] = [const { Class::new() }; CLASSES];
/// Powers of two from 32 to [`LARGEST`], each aligned to its size.
static ALIGNED: [Class; 11] = [const { Class::new() }; 11];

/// Bytes in large blocks.
static LARGE: AtomicUsize = AtomicUsize::new(0);
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Stands at the beginning of each region.
struct Region {
    /// Bytes handed out, this header included; may run over the end.
    used: AtomicUsize,
    size: usize,
}

static REGION: AtomicPtr<Region> = AtomicPtr::new(ptr::null_mut());

/// Bytes that are allocated now, rounded up to size classes.
pub fn in_use() -> usize {
    let packed =
        PACKED.iter().enumerate().map(|(i, class)| class.live.load(Ordering::Relaxed) * class_size(i));
    let aligned = ALIGNED.iter().enumerate().map(|(i, class)| class.live.load(Ordering::Relaxed) * (32 << i));
    packed.chain(aligned).sum::<usize>() + LARGE.load(Ordering::Relaxed)
}

/// Bytes that were taken from the kernel and not given back.
pub fn mapped() -> usize {
    MAPPED.load(Ordering::Relaxed) + LARGE.load(Ordering::Relaxed)
}

fn class_of(size: usize) -> usize {
    if size <= 128 {
        return (size.max(1) - 1) / 16;
    }
    // The doubling that the size lies in, and which quarter of it.
    let doubling = (size - 1).ilog2() as usize;
    let quarter = (size - 1 - (1 << doubling)) >> (doubling - 2);
    8 + (doubling - 7) * 4 + quarter
}

fn class_size(class: usize) -> usize {
    if class < 8 {
        return (class + 1) * 16;
    }
    let (doubling, quarter) = ((class - 8) / 4 + 7, (class - 8) % 4);
    (1 << doubling) + ((quarter + 1) << (doubling - 2))
}

/// How a block is kept.
enum Kind {
    /// Of a class, with this size and alignment.
    Block(&'static Class, usize, usize),
    /// Mapped, with this size.
    Mapped(usize),
}

fn kind(layout: Layout) -> Kind {
    if layout.align() <= 16 && layout.size() <= LARGEST {
        let class = class_of(layout.size());
        return Kind::Block(&PACKED[class], class_size(class), 16);
    }
    let size = layout.size().max(layout.align()).next_power_of_two();
    if layout.align() > 16 && size <= LARGEST {
        return Kind::Block(&ALIGNED[size.ilog2() as usize - 5], size, size);
    }
    Kind::Mapped(layout.size().next_multiple_of(PAGE))
}

impl Class {
    const fn new() -> Self {
        Class { free: AtomicU64::new(0), live: AtomicUsize::new(0) }
    }

    fn pop(&self) -> *mut u8 {
        let mut head = self.free.load(Ordering::Acquire);
        loop {
            let block = (head >> TAG_BITS << 4) as *mut u8;
            if block.is_null() {
                return block;
            }
            // SAFETY: blocks stay mapped; if the block isn't free any more the exchange fails.
            let next = unsafe { AtomicU64::from_ptr(block.cast()) }.load(Ordering::Relaxed);
            let new = (next << TAG_BITS) | (head.wrapping_add(1) & TAG);
            match self.free.compare_exchange_weak(head, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return block,
                Err(seen) => head = seen,
            }
        }
    }

    fn push(&self, block: *mut u8) {
        let mut head = self.free.load(Ordering::Relaxed);
        loop {
            // SAFETY: the block is ours until the exchange succeeds.
            unsafe { AtomicU64::from_ptr(block.cast()) }.store(head >> TAG_BITS, Ordering::Relaxed);
            let new = (block as u64 >> 4 << TAG_BITS) | (head.wrapping_add(1) & TAG);
            match self.free.compare_exchange_weak(head, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => head = seen,
            }
        }
    }
}

/// A new block from the current region, or from a new region.
fn carve(size: usize, align: usize) -> *mut u8 {
    loop {
        let region = REGION.load(Ordering::Acquire);
        if !region.is_null() {
            // SAFETY: regions are never unmapped.
            let header = unsafe { &*region };
            let mut used = header.used.load(Ordering::Relaxed);
            loop {
                let start = (region as usize + used).next_multiple_of(align) - region as usize;
                if start + size > header.size {
                    break;
                }
                let end = start + size;
                match header.used.compare_exchange_weak(used, end, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return (region as usize + start) as *mut u8,
                    Err(seen) => used = seen,
                }
            }
        }
        add_region(region);
    }
}

/// Replaces the full region `old` by a larger one, unless somebody else did.
#[cold]
fn add_region(old: *mut Region) {
    // SAFETY: regions are never unmapped.
    let size = if old.is_null() { FIRST_REGION } else { (unsafe { &*old }.size * 2).min(LARGEST_REGION) };
    let region = sys::reserve(size).cast::<Region>();
    // SAFETY: fresh memory.
    unsafe { region.write(Region { used: AtomicUsize::new(size_of::<Region>()), size }) };
    if REGION.compare_exchange(old, region, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        MAPPED.fetch_add(size, Ordering::Relaxed);
    } else {
        // SAFETY: nobody has seen it.
        unsafe { sys::munmap(region.cast(), size) };
    }
}

/// A mapping with an alignment that may be larger than a page.
fn map(size: usize, align: usize) -> *mut u8 {
    LARGE.fetch_add(size, Ordering::Relaxed);
    if align <= PAGE {
        return sys::reserve(size);
    }
    let whole = sys::reserve(size + align);
    let start = (whole as usize).next_multiple_of(align);
    let before = start - whole as usize;
    // SAFETY: the parts before and after the block are nobody's. Either may be empty, which the kernel refuses.
    unsafe {
        sys::munmap(whole, before);
        sys::munmap((start + size) as *mut u8, align - before);
    }
    start as *mut u8
}

// SAFETY: blocks are disjoint, large and aligned enough; never unwinds.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match kind(layout) {
            Kind::Block(class, size, align) => {
                class.live.fetch_add(1, Ordering::Relaxed);
                let block = class.pop();
                if block.is_null() { carve(size, align) } else { block }
            }
            Kind::Mapped(size) => map(size, layout.align()),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as asked.
        let block = unsafe { self.alloc(layout) };
        if let Kind::Block(..) = kind(layout) {
            // SAFETY: the block has this size.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match kind(layout) {
            Kind::Block(class, ..) => {
                class.live.fetch_sub(1, Ordering::Relaxed);
                class.push(block);
            }
            Kind::Mapped(size) => {
                LARGE.fetch_sub(size, Ordering::Relaxed);
                // SAFETY: the block was mapped with this size.
                unsafe { sys::munmap(block, size) };
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (kind(layout), kind(new_layout)) {
            (Kind::Block(old, ..), Kind::Block(new, ..)) if ptr::eq(old, new) => return block,
            (Kind::Mapped(old), Kind::Mapped(new)) if layout.align() <= PAGE => {
                LARGE.fetch_add(new.wrapping_sub(old), Ordering::Relaxed);
                // SAFETY: the block was mapped with this size.
                return unsafe { sys::mremap(block, old, new) }.unwrap_or_else(|_| sys::out_of_memory());
            }
            _ => {}
        }
        // SAFETY: both blocks have at least so many bytes.
        unsafe {
            let moved = self.alloc(new_layout);
            moved.copy_from_nonoverlapping(block, layout.size().min(new_size));
            self.dealloc(block, layout);
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn classes_fit() {
        for size in 1..=LARGEST {
            let class = class_of(size);
            assert!(class < CLASSES && class_size(class) >= size, "{size}");
            assert!(class == 0 || class_size(class - 1) < size, "{size}");
            assert!(size < 128 || class_size(class) - size <= size / 4, "{size}");
        }
    }

    /// Blocks don't overlap, are aligned, and keep their contents, also when several threads exchange them.
    #[test]
    fn blocks_are_apart() {
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                scope.spawn(move || {
                    let mut random = seqcst_model::sample::Random::new(thread + 1);
                    let mut held: Vec<(*mut u8, Layout, u8)> = Vec::new();
                    for round in 0..20_000u64 {
                        let seed = random.draw();
                        let size = 1 + (seed >> 40) as usize % if round % 50 == 0 { 100_000 } else { 300 };
                        let align = 1 << ((seed >> 33) % if round % 100 == 0 { 15 } else { 7 });
                        let mark = (thread * 50 + round % 50) as u8;
                        // SAFETY: blocks are used as they were asked for.
                        unsafe {
                            let block = Arena.alloc(layout(size, align));
                            assert_eq!(block as usize % align, 0);
                            block.write_bytes(mark, size);
                            held.push((block, layout(size, align), mark));
                            if held.len() > 30 {
                                let (block, old, mark) = held.swap_remove(seed as usize % 30);
                                let bytes = core::slice::from_raw_parts(block, old.size());
                                assert!(bytes.iter().all(|&byte| byte == mark));
                                let size = old.size() * 2;
                                let block = Arena.realloc(block, old, size);
                                let bytes = core::slice::from_raw_parts(block, old.size());
                                assert!(bytes.iter().all(|&byte| byte == mark));
                                Arena.dealloc(block, layout(size, old.align()));
                            }
                        }
                    }
                    for (block, layout, _) in held {
                        // SAFETY: allocated above.
                        unsafe { Arena.dealloc(block, layout) };
                    }
                });
            }
        });
        assert!(mapped() < 1 << 26);
    }

    #[test]
    fn zeroed_after_use() {
        // SAFETY: blocks are used as they were asked for.
        unsafe {
            for size in [40, 5000, 1 << 20] {
                let block = Arena.alloc(layout(size, 8));
                block.write_bytes(7, size);
                Arena.dealloc(block, layout(size, 8));
                let block = Arena.alloc_zeroed(layout(size, 8));
                assert!(core::slice::from_raw_parts(block, size).iter().all(|&byte| byte == 0));
                Arena.dealloc(block, layout(size, 8));
            }
        }
    }
}

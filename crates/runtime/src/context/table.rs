//! Pairs (parent, pc) and their numbers: filled by all threads without locks, never emptied, of fixed capacity.
//!
//! Entries lie densely in the order they came, so that memory is touched as it is used, and hang in chains from hashed
//! buckets. An entry is complete before it is linked. Two threads that add the same pair at the same time may both
//! succeed: then the pair has two numbers, which only means that a report may come twice.

use crate::sys;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const BUCKETS: usize = 1 << 16;

struct Entry {
    pc: usize,
    parent: u32,
    next: u32,
}

/// See the head of the file. Numbers are from 1 on, below the capacity.
pub(super) struct Table {
    capacity: usize,
    /// The next free number, perhaps far beyond the capacity.
    next: AtomicU32,
    memory: AtomicPtr<u8>,
}

impl Table {
    pub(super) const fn new(capacity: usize) -> Self {
        Table { capacity, next: AtomicU32::new(1), memory: AtomicPtr::new(ptr::null_mut()) }
    }

    pub(super) fn len(&self) -> usize {
        (self.next.load(Ordering::Relaxed) as usize).min(self.capacity) - 1
    }

    fn memory(&self) -> *mut u8 {
        let memory = self.memory.load(Ordering::Acquire);
        if memory.is_null() { self.map() } else { memory }
    }

    #[cold]
    fn map(&self) -> *mut u8 {
        let size = BUCKETS * size_of::<AtomicU32>() + self.capacity * size_of::<Entry>();
        let memory = sys::reserve(size);
        match self.memory.compare_exchange(ptr::null_mut(), memory, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => memory,
            Err(other) => {
                // SAFETY: nobody has seen it.
                unsafe { sys::munmap(memory, size) };
                other
            }
        }
    }

    fn bucket(&self, parent: u32, pc: usize) -> &AtomicU32 {
        let hash = (pc as u64 ^ (u64::from(parent) << 40)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        // SAFETY: the buckets come first, and all bit patterns are valid.
        unsafe { AtomicU32::from_ptr(self.memory().cast::<u32>().add(hash as usize % BUCKETS)) }
    }

    fn entry(&self, number: u32) -> *mut Entry {
        // SAFETY: callers keep the number below the capacity.
        unsafe { self.memory().add(BUCKETS * size_of::<AtomicU32>()).cast::<Entry>().add(number as usize) }
    }

    /// Parent and pc of a number that was given out; zeros for any other.
    pub(super) fn get(&self, number: u32) -> (u32, usize) {
        if number as usize >= self.capacity {
            return (0, 0);
        }
        // SAFETY: entries don't change once their number is known.
        let entry = unsafe { &*self.entry(number) };
        (entry.parent, entry.pc)
    }

    pub(super) fn find(&self, parent: u32, pc: usize) -> Option<u32> {
        let first = self.bucket(parent, pc).load(Ordering::Acquire);
        self.find_from(first, parent, pc)
    }

    fn find_from(&self, mut number: u32, parent: u32, pc: usize) -> Option<u32> {
        while number != 0 {
            // SAFETY: linked entries are complete and don't change.
            let entry = unsafe { &*self.entry(number) };
            if entry.pc == pc && entry.parent == parent {
                return Some(number);
            }
            number = entry.next;
        }
        None
    }

    /// None if the table is full.
    pub(super) fn find_or_add(&self, parent: u32, pc: usize) -> Option<u32> {
        let bucket = self.bucket(parent, pc);
        let mut first = bucket.load(Ordering::Acquire);
        if let Some(number) = self.find_from(first, parent, pc) {
            return Some(number);
        }
        if self.next.load(Ordering::Relaxed) as usize >= self.capacity {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if number as usize >= self.capacity {
            return None;
        }
        loop {
            // SAFETY: the number is ours alone until it is linked.
            unsafe { self.entry(number).write(Entry { pc, parent, next: first }) };
            match bucket.compare_exchange_weak(first, number, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(number),
                Err(seen) => first = seen,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_tables_refuse() {
        let table = Table::new(100);
        let numbers: Vec<_> = (0..200).map(|i| table.find_or_add(i % 3, 0x1000 + i as usize)).collect();
        assert!(numbers[..99].iter().all(Option::is_some) && numbers[99..].iter().all(Option::is_none));
        assert_eq!(table.len(), 99);
        for i in 0..200 {
            assert_eq!(table.find(i % 3, 0x1000 + i as usize), numbers[i as usize]);
        }
        assert_eq!(table.get(numbers[7].unwrap()), (1, 0x1007));
    }

    #[test]
    fn threads_agree() {
        let table = Table::new(1 << 16);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for i in 0..5000u32 {
                        let number = table.find_or_add(i % 7, 0x40_0000 + i as usize).unwrap();
                        assert_eq!(table.get(number), (i % 7, 0x40_0000 + i as usize));
                    }
                });
            }
        });
        assert!(table.len() < 10_000);
    }
}

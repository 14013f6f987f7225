//! The memory that is shared with the program (`seqcst_explore::wire`): the only raw pointers of this crate.
//!
//! The program is not to be trusted: it may write anywhere, by mistake. So what comes from it is copied out as bytes and
//! decoded with a look at each value ([`super::decode`]); only atomics are looked at in place.
#![allow(unsafe_code)]

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::process::{Signal, set_parent_process_death_signal};
use seqcst_explore::ThreadId;
use seqcst_explore::wire::{Asleep, Capacity, Header, Layout, MAGIC};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::{self, NonNull};

/// What the program is told for one execution, besides tape and sleep set.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// See [`Header::then`] and the fields after it.
    pub then: u32,
    pub seed: u64,
    pub depth: u32,
    pub length: u32,
    pub lenient: u32,
    pub monitor: u32,
    pub races: u32,
    pub reports: u32,
    pub output: u32,
}

/// A mapping of the shared memory.
pub struct Shared {
    start: NonNull<c_void>,
    capacity: Capacity,
    layout: Layout,
    file: OwnedFd,
}

impl Shared {
    /// New memory, all zeros but for what is set once.
    pub fn new(capacity: Capacity, step_limit: u32) -> io::Result<Shared> {
        let layout = Layout::new(capacity);
        // The program inherits it: no CLOEXEC.
        let file = memfd_create("seqcst-check", MemfdFlags::empty())?;
        ftruncate(&file, layout.size as u64)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses; it is unmapped when `Shared` is dropped.
        let start = unsafe { mmap(ptr::null_mut(), layout.size, protection, MapFlags::SHARED, &file, 0)? };
        let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        let header: *mut Header = start.as_ptr().cast();
        // SAFETY: the mapping is larger than a header, aligned to a page, and nobody else has it yet.
        unsafe {
            (*header).magic = MAGIC;
            (*header).capacity = capacity;
            (*header).step_limit = step_limit;
        }
        Ok(Shared { start, capacity, layout, file })
    }

    /// The number under which the program finds it.
    pub fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// What the arrays have room for.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// Where the arrays are.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The atomics in the header. The other fields are ours alone, and written only through [`Shared::order`].
    pub fn header(&self) -> &Header {
        // SAFETY: the mapping lives as long as `self`. The program writes only to atomics and to `message`, a plain array
        // of bytes, which is read by [`Shared::copy`] and never through this reference.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    /// Writes a plan; false if there is no room for it. The program must be waiting.
    pub fn order(&mut self, order: Order, tape: &[ThreadId], asleep: &[Asleep]) -> bool {
        if tape.len() > self.capacity.steps as usize || asleep.len() > self.capacity.asleep as usize {
            return false;
        }
        let base: *mut u8 = self.start.as_ptr().cast();
        let header: *mut Header = base.cast();
        let Order { then, seed, depth, length, lenient, monitor, races, reports, output } = order;
        // SAFETY: both arrays lie inside the mapping at the offsets of `layout`, which are aligned to 64 bytes, and there
        // is room for what is copied. `&mut self`: nobody on this side holds a reference to the header; the program waits.
        unsafe {
            (*header).then = then;
            (*header).seed = seed;
            (*header).depth = depth;
            (*header).length = length;
            (*header).lenient = lenient;
            (*header).monitor = monitor;
            (*header).races = races;
            (*header).reports = reports;
            (*header).output = output;
            (*header).tape = tape.len() as u32;
            (*header).asleep = asleep.len() as u32;
            ptr::copy_nonoverlapping(tape.as_ptr(), base.add(self.layout.tape).cast(), tape.len());
            ptr::copy_nonoverlapping(asleep.as_ptr(), base.add(self.layout.asleep).cast(), asleep.len());
        }
        true
    }

    /// Copies bytes out of the memory; what lies outside of it is left out.
    pub fn copy(&self, offset: usize, many: usize, into: &mut Vec<u8>) {
        into.clear();
        let many = many.min(self.layout.size.saturating_sub(offset));
        into.reserve(many);
        // SAFETY: the bytes lie inside the mapping, and there is room for them. The program is waiting or dead, so nobody
        // writes; if one that has gone wild did, these are still only bytes.
        unsafe {
            ptr::copy_nonoverlapping(self.start.as_ptr().cast::<u8>().add(offset), into.as_mut_ptr(), many);
            into.set_len(many);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this size; no reference to it outlives `self`.
        let _ = unsafe { munmap(self.start.as_ptr(), self.layout.size) };
    }
}

/// Sees to it that the program ends when we do, however that comes about, and that its addresses are the same each time,
/// as far as the kernel allows it.
pub fn prepare(command: &mut Command) {
    let before_exec = || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // SAFETY: a system call without pointers. Where it isn't allowed, addresses are different in the next run of
        // `seqcst explore`; within one they are the same anyway.
        unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        Ok(())
    };
    // SAFETY: two system calls between fork and exec, no memory is allocated.
    unsafe { command.pre_exec(before_exec) };
}

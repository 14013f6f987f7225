//! The memory that is shared with `seqcst explore`: the plan is read from it, the trace is written to it.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::{ptr, slice};
use seqcst_explore::wire::{Asleep, Finding, Header, Layout, MAGIC, Waiting};
use seqcst_explore::{Change, End, Fallback, Plan, Record, Step, ThreadId};

/// The memory.
#[derive(Clone, Copy)]
pub struct Shared {
    header: *mut Header,
    layout: Layout,
}

impl Shared {
    /// Maps the file; None if it isn't such a file.
    pub fn map(file: i32) -> Option<Shared> {
        let map = |size: usize| {
            let (flags, protection) = (libc::MAP_SHARED, libc::PROT_READ | libc::PROT_WRITE);
            let place = crate::sys::own_place(size);
            let args = [place, size, protection as usize, flags as usize, file as usize, 0];
            // SAFETY: a new mapping, which replaces none.
            unsafe { crate::sys::call(libc::SYS_mmap as usize, args) }.ok().map(|at| at as *mut Header)
        };
        let size = crate::sys::file_size(file).ok().filter(|&size| size >= size_of::<Header>())?;
        let header = map(size)?;
        // SAFETY: large enough; the other side has written it before it started us.
        let (magic, capacity) = unsafe { ((*header).magic, (*header).capacity) };
        let layout = Layout::new(capacity);
        (magic == MAGIC && layout.size <= size).then_some(Shared { header, layout })
    }

    /// The header. The other side changes what isn't atomic only when it is its turn.
    pub fn header(&self) -> &'static Header {
        // SAFETY: mapped for good.
        unsafe { &*self.header }
    }

    fn array<T>(&self, offset: usize) -> *mut T {
        // SAFETY: inside of the mapping.
        unsafe { self.header.cast::<u8>().add(offset).cast() }
    }

    /// The plan.
    pub fn plan(&self) -> Plan {
        let header = self.header();
        let Header { seed, depth, length, .. } = *header;
        let then = match header.then {
            1 => Fallback::Random { seed },
            2 => Fallback::Pct { seed, depth, length },
            _ => Fallback::NonPreemptive,
        };
        let (tape, asleep) =
            (header.tape.min(header.capacity.steps), header.asleep.min(header.capacity.asleep));
        // SAFETY: the other side has written so many.
        let (tape, asleep) = unsafe {
            (
                slice::from_raw_parts(self.array::<ThreadId>(self.layout.tape), tape as usize),
                slice::from_raw_parts(self.array::<Asleep>(self.layout.asleep), asleep as usize),
            )
        };
        let asleep = asleep.iter().map(|entry| (entry.thread, entry.op)).collect();
        Plan { tape: tape.to_vec(), then, asleep, lenient: header.lenient != 0 }
    }

    /// Says how the execution ended.
    pub fn ends(&self, end: End) {
        self.header().end.store(end as u32, Release);
    }

    /// A thread that is left.
    pub fn waits(&self, waiting: Waiting) {
        let header = self.header();
        self.push(&header.waiting, header.capacity.waiting, self.layout.waiting, waiting);
    }

    /// Something was found.
    pub fn found(&self, finding: Finding) {
        let header = self.header();
        self.push(&header.findings, header.capacity.findings, self.layout.findings, finding);
    }

    /// Adds to an array, or counts only.
    fn push<T>(&self, count: &AtomicU32, capacity: u32, offset: usize, value: T) {
        let at = count.load(Relaxed);
        if at < capacity {
            // SAFETY: inside of the array.
            unsafe { self.array::<T>(offset).add(at as usize).write(value) };
        }
        count.store(at + 1, Release);
    }

    /// A failed assertion, or why the program can't be explored.
    pub fn says(&self, text: &str) {
        let header = self.header();
        let mut end = text.len().min(header.message.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: so many bytes have room, and it is our turn.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), (&raw mut (*self.header).message).cast(), end) };
        header.message_len.store(end as u32, Release);
    }
}

/// The trace, as it grows.
pub struct Log {
    shared: Shared,
    count: u32,
    changes: u32,
    /// A step is being made: what changes now, changes after it.
    busy: bool,
    pulse: u64,
}

impl Log {
    /// An empty trace.
    pub fn new(shared: Shared) -> Log {
        let header = shared.header();
        for count in [&header.steps, &header.changes, &header.findings, &header.waiting, &header.message_len]
        {
            count.store(0, Relaxed);
        }
        header.pulse.store(0, Relaxed);
        shared.ends(End::Done);
        Log { shared, count: 0, changes: 0, busy: false, pulse: 0 }
    }

    /// There is no room for another step, or there were too many.
    #[inline]
    pub fn is_full(&self) -> bool {
        let header = self.shared.header();
        let capacity = &header.capacity;
        // A step can change something for every thread.
        self.count >= header.step_limit.min(capacity.steps) || self.changes + 1024 >= capacity.changes
    }

    /// A step begins. It counts at once, so that it is there if the program crashes in the middle of it.
    #[inline]
    pub fn begin(&mut self, step: Step) {
        let header = self.shared.header();
        self.busy = true;
        self.write(step);
        self.is_at(step.thread, step.site as usize);
        header.steps.store(self.count + 1, Release);
    }

    /// For who watches: where it hangs, if it does.
    #[inline]
    pub fn is_at(&self, thread: ThreadId, site: usize) {
        let header = self.shared.header();
        header.current.store(thread, Relaxed);
        header.site.store(site as u64, Relaxed);
    }

    #[inline]
    fn write(&self, step: Step) {
        // SAFETY: `is_full` was asked.
        unsafe { self.shared.array::<Step>(self.shared.layout.steps).add(self.count as usize).write(step) };
    }

    /// The number of the step that is being made.
    pub fn now(&self) -> u32 {
        self.count
    }

    /// For who watches: something goes on.
    #[inline]
    pub fn beat(&mut self) {
        self.pulse += 1;
        let pulse: &AtomicU64 = &self.shared.header().pulse;
        pulse.store(self.pulse, Relaxed);
    }
}

impl Record for Log {
    /// Those that were begun, too.
    #[inline]
    fn count(&self) -> u32 {
        self.count + u32::from(self.busy)
    }

    #[inline]
    fn step(&mut self, step: Step) {
        self.write(step);
        self.count += 1;
        self.busy = false;
        self.shared.header().steps.store(self.count, Release);
    }

    fn change(&mut self, change: Change) {
        let header = self.shared.header();
        if self.changes < header.capacity.changes {
            // SAFETY: inside of the array.
            unsafe {
                self.shared
                    .array::<Change>(self.shared.layout.changes)
                    .add(self.changes as usize)
                    .write(change);
            }
            self.changes += 1;
            header.changes.store(self.changes, Release);
        }
    }
}

/// Waits while the word has this value: shared with another process.
pub fn wait(word: &AtomicU32, value: u32) {
    let args = [ptr::from_ref(word) as usize, libc::FUTEX_WAIT as usize, value as usize, 0, 0, 0];
    while word.load(Acquire) == value {
        // SAFETY: the word is alive.
        let _ = unsafe { crate::sys::call(libc::SYS_futex as usize, args) };
    }
}

/// Changes the word and wakes who waits for it.
pub fn hand_over(word: &AtomicU32, value: u32) {
    word.store(value, Release);
    let args = [ptr::from_ref(word) as usize, libc::FUTEX_WAKE as usize, i32::MAX as usize, 0, 0, 0];
    // SAFETY: the kernel only looks the address up.
    let _ = unsafe { crate::sys::call(libc::SYS_futex as usize, args) };
}

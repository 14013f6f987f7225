//! System calls without libc, and memory functions that call nothing.
//!
//! The runtime stands in front of libc's `write`, `mmap`, `memcpy` and others, and it must work before libc is
//! initialised and inside signal handlers. So it asks the kernel itself: no `errno`, no cancellation points, no
//! thread-local storage. Errors are `Err(errno)`.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the runtime of seqcst is for x86-64 Linux only");

mod bytes;
mod raw;

use core::arch::asm;
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// `errno` of an interrupted call.
pub const EINTR: i32 = 4;

/// Any system call. Negative results are `Err(errno)`.
///
/// # Safety
/// As unsafe as the call itself.
#[inline]
pub unsafe fn call(number: usize, args: [usize; 6]) -> Result<usize, i32> {
    let result: isize;
    // SAFETY: the kernel changes rcx and r11, and memory only as the call says.
    unsafe {
        asm!("syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    if (-4095..0).contains(&result) { Err(-result as i32) } else { Ok(result as usize) }
}

macro_rules! calls {
    ($($number:literal $name:ident),* $(,)?) => {
        #[allow(non_upper_case_globals)]
        mod nr { $(pub const $name: usize = $number;)* }
    };
}
calls!(0 read, 1 write, 2 open, 3 close, 8 lseek, 9 mmap, 11 munmap, 24 sched_yield, 25 mremap, 27 mincore, 28 madvise, 39 getpid,
    82 rename, 87 unlink, 89 readlink, 186 gettid, 202 futex, 231 exit_group);

/// Opens for reading only.
pub const O_RDONLY: usize = 0;
/// Opens for writing only.
pub const O_WRONLY: usize = 1;
/// Makes the file if it isn't there.
pub const O_CREAT: usize = 0o100;
/// Empties the file.
pub const O_TRUNC: usize = 0o1000;
/// Writes at the end.
pub const O_APPEND: usize = 0o2000;
/// Refuses what isn't a directory.
pub const O_DIRECTORY: usize = 0o200000;
const O_CLOEXEC: usize = 0o2000000;

/// Opens a file (mode 0644 if it is made, closed by `exec`).
pub fn open(path: &core::ffi::CStr, flags: usize) -> Result<i32, i32> {
    let args = [path.as_ptr() as usize, flags | O_CLOEXEC, 0o644, 0, 0, 0];
    // SAFETY: the path ends in a zero byte.
    unsafe { call(nr::open, args) }.map(|fd| fd as i32)
}

/// Closes a file.
pub fn close(fd: i32) {
    // SAFETY: the caller owns the file.
    let _ = unsafe { call(nr::close, [fd as usize, 0, 0, 0, 0, 0]) };
}

/// One `read`.
pub fn read(fd: i32, buffer: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: the buffer can be written.
    unsafe { call(nr::read, [fd as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0]) }
}

/// Writes everything, after interruptions too.
pub fn write_all(fd: i32, mut bytes: &[u8]) -> Result<(), i32> {
    while !bytes.is_empty() {
        // SAFETY: the bytes can be read.
        match unsafe { call(nr::write, [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) } {
            Ok(0) => return Err(5),
            Ok(written) => bytes = &bytes[written.min(bytes.len())..],
            Err(EINTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The whole of a file; files in `/proc` too, which don't know their length.
pub fn read_file(path: &core::ffi::CStr) -> Result<Vec<u8>, i32> {
    let fd = open(path, O_RDONLY)?;
    let mut contents = Vec::new();
    let result = loop {
        let length = contents.len();
        contents.resize((length * 2).max(4096), 0);
        let got = read(fd, &mut contents[length..]);
        contents.truncate(length + got.unwrap_or(0));
        match got {
            Ok(0) => break Ok(contents),
            Ok(_) | Err(EINTR) => {}
            Err(error) => break Err(error),
        }
    };
    close(fd);
    result
}

/// How long a file is. Moves to its end.
pub fn file_size(fd: i32) -> Result<usize, i32> {
    const SEEK_END: usize = 2;
    // SAFETY: no effect on memory.
    unsafe { call(nr::lseek, [fd as usize, 0, SEEK_END, 0, 0, 0]) }
}

/// Gives a file another name, replacing what has that name.
pub fn rename(from: &core::ffi::CStr, to: &core::ffi::CStr) -> Result<(), i32> {
    // SAFETY: both paths end in a zero byte.
    unsafe { call(nr::rename, [from.as_ptr() as usize, to.as_ptr() as usize, 0, 0, 0, 0]) }.map(drop)
}

/// Removes a file.
pub fn unlink(path: &core::ffi::CStr) {
    // SAFETY: the path ends in a zero byte.
    let _ = unsafe { call(nr::unlink, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Where a symbolic link points.
pub fn readlink(path: &core::ffi::CStr) -> Result<Vec<u8>, i32> {
    let mut target = vec![0; 4096];
    let args = [path.as_ptr() as usize, target.as_mut_ptr() as usize, target.len(), 0, 0, 0];
    // SAFETY: the path ends in a zero byte, the buffer can be written.
    let length = unsafe { call(nr::readlink, args) }?;
    target.truncate(length);
    Ok(target)
}

const PROT_READ: usize = 1;
const PROT_READ_WRITE: usize = 3;
const MAP_PRIVATE: usize = 2;
const MAP_ANONYMOUS: usize = 0x20;
const MAP_NORESERVE: usize = 0x4000;

/// Where the runtime's own mappings lie, away from those of the program.
///
/// The kernel puts a mapping next to those that are there. What the runtime maps differs from execution to execution of a
/// program in the same schedule (a report needs names, a table has grown), so if both were neighbours, the program would
/// find its large blocks, stacks and libraries elsewhere.
const OWN: core::ops::Range<usize> = 0x2000_0000_0000..0x4000_0000_0000;

/// Where the next mapping of the runtime should be: what it gives back isn't used again, since there is more than enough.
/// Only a wish: if something is there already, or nothing is left (0), the kernel chooses.
pub fn own_place(size: usize) -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(OWN.start);
    let place = NEXT.load(Ordering::Relaxed);
    if size >= OWN.end - place.min(OWN.end) {
        return 0;
    }
    let place = NEXT.fetch_add(size.next_multiple_of(4096), Ordering::Relaxed);
    if place < OWN.end { place } else { 0 }
}

/// Fresh memory, all zero. It costs nothing until it is touched.
pub fn mmap(size: usize) -> Result<*mut u8, i32> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: a new mapping, which replaces none.
    unsafe { call(nr::mmap, [own_place(size), size, PROT_READ_WRITE, flags, usize::MAX, 0]) }
        .map(|a| a as *mut u8)
}

/// As [`mmap`], at this address and nowhere else.
pub fn mmap_at(address: usize, size: usize) -> Result<*mut u8, i32> {
    const FIXED_NOREPLACE: usize = 0x100000;
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | FIXED_NOREPLACE;
    // SAFETY: replaces no mapping.
    unsafe { call(nr::mmap, [address, size, PROT_READ_WRITE, flags, usize::MAX, 0]) }.map(|a| a as *mut u8)
}

/// As [`mmap`]; without memory the process ends with a message and exit code 72.
pub fn reserve(size: usize) -> *mut u8 {
    mmap(size).unwrap_or_else(|_| out_of_memory())
}

/// Says why the program can't be watched at all, and ends the process.
#[cold]
pub fn fatal(why: &str) -> ! {
    let _ = write_all(2, b"seqcst: ");
    let _ = write_all(2, why.as_bytes());
    let _ = write_all(2, b"\n");
    exit(72)
}

/// Says so and ends the process.
#[cold]
pub fn out_of_memory() -> ! {
    let _ = write_all(2, b"seqcst: out of memory, the program can't be watched any longer\n");
    exit(72)
}

/// A file's contents, mapped read-only.
pub fn mmap_file(fd: i32, size: usize) -> Result<*const u8, i32> {
    // SAFETY: a new mapping, which replaces none.
    unsafe { call(nr::mmap, [own_place(size), size, PROT_READ, MAP_PRIVATE, fd as usize, 0]) }
        .map(|a| a as *const u8)
}

/// Gives memory back.
///
/// # Safety
/// Nobody uses it any more.
pub unsafe fn munmap(address: *mut u8, size: usize) {
    // SAFETY: the caller's promise.
    let _ = unsafe { call(nr::munmap, [address as usize, size, 0, 0, 0, 0]) };
}

/// Makes a mapping larger or smaller, perhaps elsewhere.
///
/// # Safety
/// `address` and `old` are a whole mapping, and nobody uses the old address any more.
pub unsafe fn mremap(address: *mut u8, old: usize, new: usize) -> Result<*mut u8, i32> {
    const MAYMOVE: usize = 1;
    const FIXED: usize = 2;
    // To a place among our own, never where it happens to be possible to grow: the next mapping may want to be there.
    let to = mmap(new)?;
    // SAFETY: replaces the mapping just made.
    unsafe { call(nr::mremap, [address as usize, old, new, MAYMOVE | FIXED, to as usize, 0]) }
        .map(|a| a as *mut u8)
}

/// `madvise` advice: give the pages back, they read as zero afterwards.
pub const MADV_DONTNEED: usize = 4;
/// `madvise` advice: use large pages.
pub const MADV_HUGEPAGE: usize = 14;
/// `madvise` advice: don't use large pages.
pub const MADV_NOHUGEPAGE: usize = 15;

/// `madvise`
///
/// # Safety
/// [`MADV_DONTNEED`] erases the contents.
pub unsafe fn madvise(address: *mut u8, size: usize, advice: usize) -> Result<(), i32> {
    // SAFETY: the caller's promise.
    unsafe { call(nr::madvise, [address as usize, size, advice, 0, 0, 0]) }.map(drop)
}

/// Which pages of a range of memory are there: the lowest bit of a byte for each. All, if the kernel doesn't tell.
pub fn mincore(address: usize, size: usize, pages: &mut [u8]) {
    // SAFETY: the kernel writes a byte for each page.
    if pages.len() < size / 4096
        || unsafe { call(nr::mincore, [address, size, pages.as_mut_ptr() as usize, 0, 0, 0]) }.is_err()
    {
        pages.fill(1);
    }
}

/// Sleeps while `word` is `expected`, until woken (or for no reason).
pub fn futex_wait(word: &AtomicU32, expected: u32) {
    const WAIT_PRIVATE: usize = 128;
    let args = [ptr::from_ref(word) as usize, WAIT_PRIVATE, expected as usize, 0, 0, 0];
    // SAFETY: the word is alive.
    let _ = unsafe { call(nr::futex, args) };
}

/// Wakes up to `count` sleepers.
pub fn futex_wake(word: &AtomicU32, count: u32) {
    const WAKE_PRIVATE: usize = 129;
    let args = [ptr::from_ref(word) as usize, WAKE_PRIVATE, count as usize, 0, 0, 0];
    // SAFETY: the kernel only looks the address up.
    let _ = unsafe { call(nr::futex, args) };
}

/// Lets others run.
pub fn sched_yield() {
    // SAFETY: no effect on memory.
    let _ = unsafe { call(nr::sched_yield, [0; 6]) };
}

/// The kernel's number of this thread.
pub fn gettid() -> u32 {
    // SAFETY: no effect on memory.
    unsafe { call(nr::gettid, [0; 6]) }.unwrap_or(0) as u32
}

/// The kernel's number of this process.
pub fn getpid() -> u32 {
    // SAFETY: no effect on memory.
    unsafe { call(nr::getpid, [0; 6]) }.unwrap_or(0) as u32
}

/// Ends the process at once, all threads.
pub fn exit(code: i32) -> ! {
    loop {
        // SAFETY: does not return.
        let _ = unsafe { call(nr::exit_group, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files() {
        let name = std::ffi::CString::new(format!("/tmp/seqcst-sys-test-{}", getpid())).unwrap();
        let other = std::ffi::CString::new(format!("/tmp/seqcst-sys-test-{}-b", getpid())).unwrap();
        let fd = open(&name, O_WRONLY | O_CREAT | O_TRUNC).unwrap();
        let text = b"0123456789".repeat(1000);
        write_all(fd, &text).unwrap();
        close(fd);
        rename(&name, &other).unwrap();
        assert_eq!(read_file(&name), Err(2));
        assert_eq!(read_file(&other).unwrap(), text);
        unlink(&other);
        assert_eq!(read_file(&other), Err(2));
        assert!(open(c"/tmp", O_RDONLY | O_DIRECTORY).map(close).is_ok());
        assert!(!readlink(c"/proc/self/exe").unwrap().is_empty());
        assert_eq!(getpid(), std::process::id());
    }

    #[test]
    fn memory() {
        let memory = reserve(1 << 20);
        // SAFETY: just reserved.
        unsafe {
            assert_eq!(*memory.add(5000), 0);
            *memory.add(5000) = 7;
            let memory = mremap(memory, 1 << 20, 1 << 22).unwrap();
            assert_eq!(*memory.add(5000), 7);
            let memory = mremap(memory, 1 << 22, 1 << 23).unwrap();
            assert_eq!(*memory.add(5000), 7);
            assert!(OWN.contains(&(memory as usize)));
            madvise(memory, 1 << 23, MADV_DONTNEED).unwrap();
            assert_eq!(*memory.add(5000), 0);
            munmap(memory, 1 << 23);
        }
        assert!(mmap(usize::MAX / 2).is_err());
    }
}

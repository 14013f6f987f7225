//! Standard input, output and error of the copies.

use crate::sys;
use core::sync::atomic::{AtomicI32, Ordering};

/// Where standard output and error really go; -1: not moved yet.
static REAL: [AtomicI32; 2] = [const { AtomicI32::new(-1) }; 2];

fn nowhere() -> Option<i32> {
    const O_RDWR: usize = 2;
    sys::open(c"/dev/null", O_RDWR).ok()
}

fn duplicate(file: i32, to: i32) {
    // SAFETY: numbers of files.
    let _ = unsafe { sys::call(libc::SYS_dup2 as usize, [file as usize, to as usize, 0, 0, 0, 0]) };
}

/// Nothing is to be read.
pub fn close_input() {
    if let Some(nowhere) = nowhere() {
        duplicate(nowhere, 0);
        sys::close(nowhere);
    }
}

/// Do copies write to where this process was told to, or nowhere?
pub fn set_output(on: bool) {
    const FREE: usize = 200;
    if on != (REAL[0].load(Ordering::Relaxed) >= 0) {
        return;
    }
    for (file, real) in [(1, &REAL[0]), (2, &REAL[1])] {
        if on {
            let moved = real.swap(-1, Ordering::Relaxed);
            duplicate(moved, file);
            sys::close(moved);
        } else {
            let args = [file as usize, libc::F_DUPFD_CLOEXEC as usize, FREE, 0, 0, 0];
            // SAFETY: numbers of files.
            let moved = unsafe { sys::call(libc::SYS_fcntl as usize, args) };
            real.store(moved.map_or(-1, |moved| moved as i32), Ordering::Relaxed);
            if let Some(nowhere) = nowhere() {
                duplicate(nowhere, file);
                sys::close(nowhere);
            }
        }
    }
}

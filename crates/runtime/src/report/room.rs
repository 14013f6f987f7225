//! A large stack for making reports: names of functions need room, and the program's threads and signal handlers may
//! have little. Used by one thread at a time, whoever holds the lock of the reports.

use crate::sys;
use core::arch::asm;
use core::mem::MaybeUninit;

const SIZE: usize = 4 << 20;

/// The stack.
#[derive(Default)]
pub struct Room {
    /// Mapped when first needed; 0 before.
    bottom: usize,
}

impl Room {
    /// Not mapped yet.
    pub const fn new() -> Room {
        Room { bottom: 0 }
    }

    /// Does `work` on this stack. Nothing unwinds: the runtime is built to abort on panics.
    pub fn enter<T>(&mut self, work: impl FnOnce() -> T) -> T {
        if self.bottom == 0 {
            self.bottom = sys::reserve(SIZE) as usize;
        }
        on_stack(self.bottom + SIZE, work)
    }
}

fn on_stack<T, F: FnOnce() -> T>(top: usize, work: F) -> T {
    struct Call<T, F> {
        work: MaybeUninit<F>,
        result: MaybeUninit<T>,
    }
    unsafe extern "C" fn run<T, F: FnOnce() -> T>(call: *mut Call<T, F>) {
        // SAFETY: `work` is there and is taken once.
        unsafe { (*call).result.write((*call).work.assume_init_read()()) };
    }
    let mut call: Call<T, F> = Call { work: MaybeUninit::new(work), result: MaybeUninit::uninit() };
    // SAFETY: the stack is aligned to pages and nobody else is on it; r12 is kept by the callee.
    unsafe {
        asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {run}",
            "mov rsp, r12",
            top = in(reg) top,
            run = in(reg) run::<T, F> as *const (),
            in("rdi") &raw mut call,
            out("r12") _,
            clobber_abi("C"),
        );
        call.result.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back() {
        let mut room = Room::new();
        let text = String::from("there");
        let here = 0u8;
        let (answer, place) = room.enter(|| {
            let there = 0u8;
            (format!("{text} and back"), &raw const there as usize)
        });
        assert_eq!(answer, "there and back");
        assert!((room.bottom..room.bottom + SIZE).contains(&place));
        assert!(!(room.bottom..room.bottom + SIZE).contains(&(&raw const here as usize)));
        assert_eq!(room.enter(|| [7u64; 1000].iter().sum::<u64>()), 7000);
    }

    #[test]
    fn small_stacks() {
        let deep = || {
            let mut room = Room::new();
            room.enter(|| core::hint::black_box([1u8; 1 << 20])[77])
        };
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(deep).unwrap();
        assert_eq!(thread.join().unwrap(), 1);
    }
}

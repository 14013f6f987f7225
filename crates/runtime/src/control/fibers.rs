//! Borrowed threads: all threads of the program run on one kernel thread, the runner, each on its own stack and with its
//! own thread-local storage.
//!
//! Every thread is really created. Its kernel thread then moves to a small stack, sleeps there, and *lends* its stack and
//! its thread control block. The runner goes from thread to thread by changing registers, `fs` among them, so `errno`,
//! `pthread_self`, thread-local variables and their destructors, `pthread_exit` and exceptions work as ever. When nothing
//! is left to do but to end, the kernel thread takes its stack back.

use super::park::{self, Sleep};
use core::arch::{asm, naked_asm};
use core::mem::{MaybeUninit, offset_of};
use core::ptr;

/// A thread that is not running: where its registers are.
pub struct Fiber {
    /// The stack pointer; what must be kept stands on the stack.
    sp: usize,
    /// The thread control block.
    fs: usize,
    /// The kernel thread, while it sleeps.
    sleep: Sleep,
    /// The kernel thread's small stack, for as long as it sleeps.
    bed: Option<Box<Bed>>,
}

/// Room for a call or two that wait in the kernel. Signals don't come here, but for the one that ends the process.
#[repr(C, align(16))]
struct Bed(MaybeUninit<[u8; 1 << 10]>);

impl Fiber {
    /// The runner itself.
    pub fn of_runner() -> Fiber {
        Fiber { sp: 0, fs: own_fs(), sleep: Sleep::asleep(), bed: None }
    }

    /// A thread that will be created.
    pub fn new() -> Fiber {
        let bed = Box::new(Bed(MaybeUninit::uninit()));
        Fiber { sp: 0, fs: 0, sleep: Sleep::new(), bed: Some(bed) }
    }

    /// On a new kernel thread: lends the stack. Returns on the runner, when it is this thread's turn.
    ///
    /// # Safety
    /// `fiber` stays where it is as long as the process lives. Whoever runs next calls nothing on this thread's behalf.
    pub unsafe fn lend(fiber: *mut Fiber) {
        // SAFETY: nobody else uses it before it sleeps.
        unsafe {
            (*fiber).fs = own_fs();
            let Some(bed) = &mut (*fiber).bed else { return };
            let top = ptr::from_mut(&mut **bed) as usize + size_of::<Bed>();
            lie_down(fiber, top);
        }
    }

    /// Goes on with another thread, until somebody comes back to this one.
    ///
    /// # Safety
    /// `from` is the running thread, `to` another one that isn't running.
    pub unsafe fn switch(from: *mut Fiber, to: *mut Fiber) {
        // SAFETY: the caller's promise; the first time, its kernel thread may still be on its way to bed.
        unsafe {
            (*to).sleep.wait_until_asleep();
            change(from, to);
        }
    }

    /// The kernel thread may take its stack back: `switch` from this thread returns there.
    pub fn release(&self) {
        self.sleep.wake();
    }
}

/// Can user code set `fs`?
pub fn are_possible() -> bool {
    const FSGSBASE: u64 = 2;
    // SAFETY: no preconditions.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & FSGSBASE != 0 }
}

/// Every thread control block begins with its own address.
fn own_fs() -> usize {
    let fs: usize;
    // SAFETY: reads a word that is always there.
    unsafe { asm!("mov {}, fs:[0]", out(reg) fs, options(nostack, readonly, preserves_flags)) };
    fs
}

/// A function that saves what a call must keep, and the stack pointer in the fiber that is its first argument; does what is
/// said, which ends on a stack that was left like that; and goes on where that one was left.
macro_rules! switching {
    ($($instruction:literal),+; $($name:ident = $($operand:tt)+);+) => {
        naked_asm!(
            "push rbp",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "push r15",
            "sub rsp, 8",
            "stmxcsr [rsp]",
            "fnstcw [rsp + 4]",
            "mov [rdi + {sp}], rsp",
            $($instruction,)+
            "fldcw [rsp + 4]",
            "ldmxcsr [rsp]",
            "add rsp, 8",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
            sp = const offset_of!(Fiber, sp),
            $($name = $($operand)+,)+
        )
    };
}

/// Saves what a call must keep, and the stack pointer in the fiber; sleeps on the stack that ends at `top`; then goes on
/// where the runner left this stack.
#[unsafe(naked)]
unsafe extern "C" fn lie_down(fiber: *mut Fiber, top: usize) {
    switching!(
        "mov rsp, rsi",
        "mov rbx, rdi",
        "call {sleep}",
        "mov rsp, [rbx + {sp}]";
        sleep = sym sleep
    )
}

/// On the small stack.
unsafe extern "C" fn sleep(fiber: *const Fiber) {
    park::block_signals();
    // SAFETY: `lend`'s caller keeps it where it is. Calls nothing that uses the thread's own storage.
    unsafe { (*fiber).sleep.sleep() };
}

/// The switch itself: as a call sees it, nothing happens, but time passes.
#[unsafe(naked)]
unsafe extern "C" fn change(from: *mut Fiber, to: *mut Fiber) {
    switching!(
        "mov rsp, [rsi + {sp}]",
        "mov rax, [rsi + {fs}]",
        "wrfsbase rax";
        fs = const offset_of!(Fiber, fs)
    )
}

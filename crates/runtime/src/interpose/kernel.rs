//! The kernel as a messenger: what one thread writes to a pipe, a socket or an eventfd, another may read.
//!
//! POSIX doesn't say that this orders memory, but it does, and programs rely on it. Which descriptors are two ends of the
//! same thing is not to be known for certain (duplicates, inherited ones, ones that libraries made), so the kernel is one
//! object: what sends releases it, what receives acquires it. That orders more than there is, never less, so
//! that it is believed and no more (`Side::Loose`).
//!
//! Under the scheduler (`turns`) nobody waits in the kernel as long as others can run.

mod turns;

use crate::control;
use crate::sync::{self, Side};
use turns::{Way, Words};

/// Its address names the object.
static KERNEL: u8 = 0;

/// `mode name real` for each function. None has more than six arguments, all of them in registers; those that a function
/// doesn't have do no harm.
macro_rules! messengers {
    ($($mode:ident $way:expr, $name:ident $real:ident;)*) => {
        real! {
            $(fn $real(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize;)*
        }
        $(
            #[doc = "In front of the function of this name."]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub extern "C" fn $name() {
                unsafe extern "C" fn work(
                    a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, pc: usize,
                ) -> isize {
                    let real = |[a, b, c, d, e, f]: Words| {
                        // SAFETY: the caller's arguments.
                        unsafe { real::$real(a, b, c, d, e, f) }
                    };
                    let args = [a, b, c, d, e, f];
                    if !control::active() {
                        return around(Mode::$mode, pc, || real(args));
                    }
                    // SAFETY: the caller's arguments.
                    unsafe { in_turn(Mode::$mode, $way, args, pc, real) }
                }
                // Registers may be used up: the return address goes on the stack, as the seventh argument.
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "push [rsp]",
                    ".cfi_adjust_cfa_offset 8",
                    "call {work}",
                    "add rsp, 8",
                    ".cfi_adjust_cfa_offset -8",
                    "ret",
                    ".cfi_endproc",
                    work = sym work,
                )
            }
        )*
    };
}

/// What a function does.
#[derive(PartialEq, Eq)]
enum Mode {
    /// It sends.
    Sends,
    /// It receives, unless it fails with -1. The end of a file is a message too.
    Receives,
    /// It receives and always fails.
    Pauses,
    /// Both.
    Exchanges,
}

/// A thread that nobody announced begins: libc makes some for timers and other requests, which were sent to it.
pub(super) fn arrived() {
    sync::acquire(&raw const KERNEL as usize, Side::Loose, 0);
}

#[inline]
fn around(mode: Mode, pc: usize, real: impl FnOnce() -> isize) -> isize {
    if matches!(mode, Mode::Sends | Mode::Exchanges) {
        sync::release(&raw const KERNEL as usize, Side::Loose, pc);
    }
    let result = real();
    // Functions that return `int` leave the upper half undefined.
    let failed = result as i32 == -1;
    if mode == Mode::Pauses || mode == Mode::Exchanges || mode == Mode::Receives && !failed {
        sync::acquire(&raw const KERNEL as usize, Side::Loose, pc);
    }
    result
}

/// The same under the scheduler.
///
/// # Safety
/// The arguments are those of such a call.
unsafe fn in_turn(
    mode: Mode,
    way: Way,
    mut args: Words,
    pc: usize,
    real: impl FnOnce(Words) -> isize,
) -> isize {
    // SAFETY: the caller's promise.
    let result = unsafe { turns::turn(way, &mut args, pc) };
    let result = around(mode, pc, || result.unwrap_or_else(|| real(args)));
    turns::over(way);
    result
}

messengers! {
    Sends Way::Writes, __interpose_write write;
    Sends Way::Alone, __interpose_pwrite pwrite;
    Sends Way::Alone, __interpose_pwrite64 pwrite64;
    Sends Way::Gives(None), __interpose_writev writev;
    Sends Way::Alone, __interpose_pwritev pwritev;
    Sends Way::Alone, __interpose_pwritev64 pwritev64;
    Sends Way::Gives(Some(3)), __interpose_send send;
    Sends Way::Gives(Some(3)), __interpose_sendto sendto;
    Sends Way::Gives(Some(2)), __interpose_sendmsg sendmsg;
    Sends Way::Gives(Some(3)), __interpose_sendmmsg sendmmsg;
    Sends Way::Gives(None), __interpose_eventfd_write eventfd_write;
    Sends Way::Tells, __interpose_close close;
    Sends Way::Tells, __interpose_shutdown shutdown;
    Sends Way::Tells, __interpose_connect connect;
    Sends Way::Tells, __interpose_epoll_ctl epoll_ctl;
    Sends Way::Kill, __interpose_kill kill;
    Sends Way::Kill, __interpose_sigqueue sigqueue;
    Sends Way::KillThread, __interpose_pthread_kill pthread_kill;
    Sends Way::KillThread, __interpose_pthread_sigqueue pthread_sigqueue;
    Sends Way::KillNumber, __interpose_tgkill tgkill;
    Sends Way::Raise, __interpose_raise raise;
    Sends Way::Alone, __interpose_timer_create timer_create;
    Sends Way::Alone, __interpose_timer_settime timer_settime;
    Sends Way::Alone, __interpose_mq_notify mq_notify;
    Sends Way::Alone, __interpose_getaddrinfo_a getaddrinfo_a;
    Sends Way::Alone, __interpose_msgsnd msgsnd;
    Sends Way::Gives(None), __interpose_mq_send mq_send;
    Sends Way::Alone, __interpose_mq_timedsend mq_timedsend;
    Receives Way::Read, __interpose_read read;
    Receives Way::Read, __interpose___read_chk __read_chk;
    Receives Way::Alone, __interpose_pread pread;
    Receives Way::Alone, __interpose_pread64 pread64;
    Receives Way::Reads(None), __interpose_readv readv;
    Receives Way::Alone, __interpose_preadv preadv;
    Receives Way::Alone, __interpose_preadv64 preadv64;
    Receives Way::Reads(Some(3)), __interpose_recv recv;
    Receives Way::Reads(Some(4)), __interpose___recv_chk __recv_chk;
    Receives Way::Reads(Some(3)), __interpose_recvfrom recvfrom;
    Receives Way::Reads(Some(2)), __interpose_recvmsg recvmsg;
    Receives Way::Reads(Some(3)), __interpose_recvmmsg recvmmsg;
    Receives Way::Poll, __interpose_poll poll;
    Receives Way::Poll, __interpose___poll_chk __poll_chk;
    Receives Way::PollSpec, __interpose_ppoll ppoll;
    Receives Way::Select, __interpose_select select;
    Receives Way::SelectSpec, __interpose_pselect pselect;
    Receives Way::Epoll, __interpose_epoll_wait epoll_wait;
    Receives Way::Epoll, __interpose_epoll_pwait epoll_pwait;
    Receives Way::Signal, __interpose_sigwaitinfo sigwaitinfo;
    Receives Way::SignalSpec, __interpose_sigtimedwait sigtimedwait;
    Receives Way::Reads(None), __interpose_eventfd_read eventfd_read;
    Receives Way::Reads(None), __interpose_accept accept;
    Receives Way::Reads(None), __interpose_accept4 accept4;
    Receives Way::Signal, __interpose_sigwait sigwait;
    Pauses Way::Pause, __interpose_sigsuspend sigsuspend;
    Pauses Way::Pause, __interpose_pause pause;
    Receives Way::Alone, __interpose_msgrcv msgrcv;
    Receives Way::Reads(None), __interpose_mq_receive mq_receive;
    Receives Way::Alone, __interpose_mq_timedreceive mq_timedreceive;
    Exchanges Way::Alone, __interpose_semop semop;
    Exchanges Way::Alone, __interpose_semtimedop semtimedop;
}

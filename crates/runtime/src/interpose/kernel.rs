//! The kernel as a messenger: what one thread writes to a pipe, a socket or an eventfd, another may read.
//!
//! POSIX doesn't say that this orders memory, but it does, and programs rely on it. Which descriptors are two ends of the
//! same thing is not to be known for certain (duplicates, inherited ones, ones that libraries made), so the kernel is one
//! object: what sends releases it, what receives acquires it. That orders more than there is, never less, so
//! that it is believed and no more (`Side::Loose`).

use crate::sync::{self, Side};

/// Its address names the object.
static KERNEL: u8 = 0;

/// `mode name real` for each function. None has more than six arguments, all of them in registers; those that a function
/// doesn't have do no harm.
macro_rules! messengers {
    ($($mode:ident $name:ident $real:ident,)*) => {
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
                    // SAFETY: the caller's arguments.
                    around(Mode::$mode, pc, || unsafe { real::$real(a, b, c, d, e, f) })
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

messengers! {
    Sends __interpose_write write,
    Sends __interpose_pwrite pwrite,
    Sends __interpose_pwrite64 pwrite64,
    Sends __interpose_writev writev,
    Sends __interpose_pwritev pwritev,
    Sends __interpose_pwritev64 pwritev64,
    Sends __interpose_send send,
    Sends __interpose_sendto sendto,
    Sends __interpose_sendmsg sendmsg,
    Sends __interpose_sendmmsg sendmmsg,
    Sends __interpose_eventfd_write eventfd_write,
    Sends __interpose_close close,
    Sends __interpose_shutdown shutdown,
    Sends __interpose_connect connect,
    Sends __interpose_epoll_ctl epoll_ctl,
    Sends __interpose_kill kill,
    Sends __interpose_sigqueue sigqueue,
    Sends __interpose_pthread_kill pthread_kill,
    Sends __interpose_pthread_sigqueue pthread_sigqueue,
    Sends __interpose_tgkill tgkill,
    Sends __interpose_timer_create timer_create,
    Sends __interpose_timer_settime timer_settime,
    Sends __interpose_mq_notify mq_notify,
    Sends __interpose_getaddrinfo_a getaddrinfo_a,
    Sends __interpose_msgsnd msgsnd,
    Sends __interpose_mq_send mq_send,
    Sends __interpose_mq_timedsend mq_timedsend,
    Receives __interpose_read read,
    Receives __interpose_pread pread,
    Receives __interpose_pread64 pread64,
    Receives __interpose_readv readv,
    Receives __interpose_preadv preadv,
    Receives __interpose_preadv64 preadv64,
    Receives __interpose_recv recv,
    Receives __interpose_recvfrom recvfrom,
    Receives __interpose_recvmsg recvmsg,
    Receives __interpose_recvmmsg recvmmsg,
    Receives __interpose_poll poll,
    Receives __interpose_ppoll ppoll,
    Receives __interpose_select select,
    Receives __interpose_pselect pselect,
    Receives __interpose_epoll_wait epoll_wait,
    Receives __interpose_epoll_pwait epoll_pwait,
    Receives __interpose_sigwaitinfo sigwaitinfo,
    Receives __interpose_sigtimedwait sigtimedwait,
    Receives __interpose_eventfd_read eventfd_read,
    Receives __interpose_accept accept,
    Receives __interpose_accept4 accept4,
    Receives __interpose_sigwait sigwait,
    Pauses __interpose_sigsuspend sigsuspend,
    Pauses __interpose_pause pause,
    Receives __interpose_msgrcv msgrcv,
    Receives __interpose_mq_receive mq_receive,
    Receives __interpose_mq_timedreceive mq_timedreceive,
    Exchanges __interpose_semop semop,
    Exchanges __interpose_semtimedop semtimedop,
}

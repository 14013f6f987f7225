//! Barriers: who leaves one knows what everybody knew who entered it in the same phase.
//!
//! A fast thread may enter the next phase before a slow one has left this one, and the slow one must not learn what the
//! fast one did in between. So odd and even phases have clocks of their own. Phases are counted here: a thread belongs to
//! the one that is open when it comes. That is libc's phase too, unless more threads use the barrier than it lets pass
//! at a time: a thread that we count into the next phase while nobody has left this one yet may be let through before
//! one that we counted earlier. Such a barrier is *crowded*: both clocks are used from then on, which orders more than
//! there is but never less.
//!
//! Under the scheduler nobody waits in libc: a thread arrives in one step and goes on in another, when its phase is over.

use super::caller::Caller;
use super::{acquire, objects, release};
use crate::control::{self, steps};
use crate::journal::EventKind;
use crate::report::{Misuse, Object};
use crate::spin::Lock;
use crate::sync::{self, Side};
use core::ffi::{c_int, c_uint, c_void};
use libc::pthread_barrier_t as Barrier;
use seqcst_explore::{AccessType, Kind, Op};

real! {
    fn pthread_barrier_init(barrier: *mut Barrier, attr: *const c_void, count: c_uint) -> c_int;
    fn pthread_barrier_destroy(barrier: *mut Barrier) -> c_int;
    fn pthread_barrier_wait(barrier: *mut Barrier) -> c_int;
}

/// The phases of a barrier.
pub(super) struct Phases {
    barrier: usize,
    count: u32,
    /// Threads that have entered the open phase.
    entered: u32,
    /// Which of the two clocks the open phase uses.
    open: usize,
    /// Phases that are over.
    over: u32,
    /// Has anybody left the phase before?
    left: bool,
    crowded: bool,
}

pub(super) static BARRIERS: Lock<Vec<Phases>> = Lock::new(Vec::new());

impl Phases {
    fn new(barrier: usize, count: u32) -> Phases {
        Phases { barrier, count, entered: 0, open: 0, over: 0, left: true, crowded: false }
    }

    /// A thread enters: which clock is its phase's?
    fn enter(&mut self) -> usize {
        self.crowded |= !self.left;
        let phase = self.open;
        self.entered += 1;
        if self.entered == self.count {
            self.entered = 0;
            self.open = 1 - self.open;
            self.over = self.over.wrapping_add(1);
            self.left = false;
        }
        phase
    }

    /// A thread leaves the phase that it entered.
    fn leave(&mut self, phase: usize) {
        self.left |= phase != self.open;
    }
}

fn find<T>(barrier: usize, with: impl FnOnce(&mut Phases) -> T) -> Option<T> {
    BARRIERS.lock().iter_mut().find(|phases| phases.barrier == barrier).map(with)
}

/// Are there threads in the open phase?
pub(super) fn is_entered(barrier: usize) -> bool {
    find(barrier, |phases| phases.entered > 0).unwrap_or(false)
}

fn forget(barrier: usize) {
    BARRIERS.lock().retain(|phases| phases.barrier != barrier);
    sync::forget(clock(barrier, 0) as usize);
    sync::forget(clock(barrier, 1) as usize);
}

/// The name of a phase's clock: an address inside the barrier.
fn clock(barrier: usize, phase: usize) -> *const u8 {
    (barrier + phase) as *const u8
}

/// In front of `pthread_barrier_init`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_pthread_barrier_init(
    barrier: *mut Barrier,
    attr: *const c_void,
    count: c_uint,
) -> c_int {
    // SAFETY: the caller's arguments.
    let result = unsafe { real::pthread_barrier_init(barrier, attr, count) };
    if result == 0 {
        forget(barrier as usize);
        BARRIERS.lock().push(Phases::new(barrier as usize, count));
    }
    result
}

/// It waits until all have left; if some wait for others, for ever: then the real call isn't made.
unsafe extern "C" fn destroy(barrier: *mut Barrier, caller: Caller) -> c_int {
    if !objects::dies(barrier, Object::Barrier, caller) {
        return libc::EBUSY;
    }
    // SAFETY: the caller's arguments.
    let result = unsafe { real::pthread_barrier_destroy(barrier) };
    if result == 0 {
        forget(barrier as usize);
    }
    objects::died(result, barrier, Object::Barrier, caller)
}

/// Was the barrier initialised, here or by another process? Its count is not 0 then.
fn is_made(barrier: *const Barrier, caller: Caller) -> bool {
    /// Where glibc keeps it.
    const COUNT: usize = 8;
    // SAFETY: the caller's barrier.
    let is_made = find(barrier as usize, |_| ()).is_some()
        || unsafe { barrier.byte_add(COUNT).cast::<u32>().read_volatile() } != 0;
    if !is_made {
        let misuse = Misuse::NotInitialised(Object::Barrier);
        objects::misused(misuse, barrier as usize, EventKind::Acquire, caller);
    }
    is_made
}

/// Waits, under the scheduler, until the phase is over that was entered as one of `before` phases.
fn turn(barrier: usize, before: u32, caller: Caller) -> c_int {
    let is_over = || find(barrier, |phases| phases.over != before).unwrap_or(true);
    if is_over() {
        control::changed(barrier);
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    control::point_when(
        barrier,
        Op::new(Kind::Pass, AccessType::Read, barrier as u64),
        caller.pc(),
        &is_over,
    );
    0
}

unsafe extern "C" fn wait(barrier: *mut Barrier, caller: Caller) -> c_int {
    let name = barrier as usize;
    if control::active() {
        control::point(steps::change(Kind::Arrive, name), caller.pc());
    }
    if !objects::used(barrier, Object::Barrier, caller) || !is_made(barrier, caller) {
        return libc::EINVAL;
    }
    let before = find(name, |phases| phases.over);
    // A barrier that another process made has one clock only.
    let (phase, crowded) = find(name, |phases| (phases.enter(), phases.crowded)).unwrap_or((0, false));
    release(clock(name, phase), Side::All, caller);
    if crowded {
        release(clock(name, 1 - phase), Side::All, caller);
    }
    let result = match before {
        Some(before) if control::active() => turn(name, before, caller),
        // SAFETY: the caller's arguments.
        _ => unsafe { real::pthread_barrier_wait(barrier) },
    };
    // The barrier may be gone by now: it is only a name.
    let crowded = find(name, |phases| {
        phases.leave(phase);
        phases.crowded
    });
    if crowded == Some(true) {
        acquire(clock(name, 0), Side::Loose, caller);
        acquire(clock(name, 1), Side::Loose, caller);
    } else {
        acquire(clock(name, phase), Side::All, caller);
    }
    result
}

shims! {
    __interpose_pthread_barrier_wait => wait, "rsi";
    __interpose_pthread_barrier_destroy => destroy, "rsi";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_threads_enter_the_next_phase() {
        let mut phases = Phases::new(0, 2);
        assert_eq!([phases.enter(), phases.enter()], [0, 0]);
        phases.leave(0);
        assert_eq!(phases.enter(), 1);
        phases.leave(0);
        assert_eq!(phases.enter(), 1);
        phases.leave(1);
        assert_eq!(phases.enter(), 0);
        assert!(!phases.crowded);
    }

    #[test]
    fn more_threads_than_pass_at_a_time() {
        let mut phases = Phases::new(0, 2);
        (0..2).for_each(|_| {
            phases.enter();
        });
        assert!(!phases.crowded);
        phases.enter();
        assert!(phases.crowded);
    }
}

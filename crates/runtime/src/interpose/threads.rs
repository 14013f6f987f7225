//! Threads that are created, joined, detached, and that end.
//!
//! What the parent knows flows to the child, what the child knew in the end flows to who joins it. A thread ends, for the
//! monitors, after its last destructor: a key of our own has a destructor that asks to be called again as often as libc
//! allows, which is later than C++ and Rust destructors and than those of other keys.
//!
//! `pthread_t` can name another thread as soon as the old one is joined, so a thread's `ThreadRecord` is looked up before the
//! real call. Both sides enter it, whoever comes first: the parent before `pthread_create` returns, the child before its
//! first step. So anyone who knows the name finds the record.
//!
//! While a plan is played (`control`), creation, begin, end and join are steps.

use super::caller::Caller;
use super::{crash, kernel, mutexes, objects};
use crate::control::{
    self, stacks,
    threads::{JoinTimeout, NewThread},
};
use crate::journal::EventKind;
use crate::report::Misuse;
use crate::spin::Lock;
use crate::sync::{self, Side};
use crate::thread::{self, ExitedThread, ThreadStart};
use crate::{memory, sys};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use libc::{clockid_t, pthread_attr_t, pthread_key_t, pthread_t, timespec};
use seqcst_explore::ThreadId;
use std::sync::Arc;

type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
type Routine11 = extern "C" fn(*mut c_void) -> c_int;

real! {
    fn pthread_create(thread: *mut pthread_t, attr: *const pthread_attr_t, routine: Routine, argument: *mut c_void) -> c_int;
    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int;
    fn pthread_clockjoin_np(thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_detach(thread: pthread_t) -> c_int;
    fn pthread_exit(result: *mut c_void) -> !;
    fn thrd_create(thread: *mut pthread_t, routine: Routine11, argument: *mut c_void) -> c_int;
    fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int;
    fn thrd_detach(thread: pthread_t) -> c_int;
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attr: *const pthread_attr_t, state: *mut c_int) -> c_int;
}

/// A thread as those see it who may join or detach it.
pub(super) struct ThreadRecord {
    /// None: nobody announced it.
    exited: Option<ExitedThread>,
    state: Lock<State>,
    /// How often its destructor was called.
    rounds: AtomicU32,
    /// Its number while a plan is played.
    number: Option<ThreadId>,
}

#[derive(Default)]
struct State {
    entered: bool,
    detached: bool,
    ended: bool,
    /// What it returned, as far as that is known while a plan is played.
    result: Option<usize>,
}

/// What a new thread is given.
struct Start<R> {
    routine: R,
    argument: *mut c_void,
    child: ThreadStart,
    record: Arc<ThreadRecord>,
    /// While a plan is played, threads begin when it is their turn.
    turn: Option<NewThread>,
    /// Its stack is the program's.
    lent: bool,
}

/// Threads by name.
pub(super) type ThreadRecords = Vec<(pthread_t, Arc<ThreadRecord>)>;
pub(super) const SHARDS: usize = 64;
pub(super) static RECORDS: [Lock<ThreadRecords>; SHARDS] = [const { Lock::new(Vec::new()) }; SHARDS];
/// Its address names what every thread releases when it ends, for who takes over its robust mutexes.
pub(super) static DEAD_OWNERS: u8 = 0;
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);
/// The thread that the process began with.
static FIRST: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static TID: Cell<u32> = const { Cell::new(0) };
}

/// Stacks smaller than this are made larger: instrumented code and the runtime need some room.
const ROOM: usize = 256 << 10;

pub(super) fn start() {
    // SAFETY: no preconditions.
    FIRST.store(unsafe { libc::pthread_self() }, Ordering::Relaxed);
    let mut key: pthread_key_t = 0;
    // SAFETY: `at_end` takes what `watch_end` gives.
    if unsafe { libc::pthread_key_create(&mut key, Some(at_end)) } == 0 {
        KEY.store(key, Ordering::Relaxed);
    }
    crash::give_stack();
}

/// The number of this thread, as libc writes it into locks. (Under the scheduler a thread may run on another one of the
/// kernel's.)
pub(super) fn tid() -> u32 {
    if TID.get() == 0 {
        TID.set(mutexes::owner());
    }
    TID.get()
}

/// After a fork, in the child.
pub(super) fn fork_child() {
    objects::forked_by(TID.replace(0));
}

/// A thread that nobody announced has turned up: its end is to be noticed all the same.
pub fn adopt() {
    if cfg!(feature = "object") && sys::gettid() != sys::getpid() {
        kernel::arrived();
        let state = Lock::new(State { detached: true, ..State::default() });
        let record = ThreadRecord { exited: None, state, rounds: AtomicU32::new(0), number: None };
        watch_end(Arc::new(record));
    }
}

fn shard(thread: pthread_t) -> &'static Lock<ThreadRecords> {
    &RECORDS[(thread >> 12 ^ thread >> 22) as usize % SHARDS]
}

fn find(thread: pthread_t) -> Option<Arc<ThreadRecord>> {
    shard(thread).lock().iter().find(|entry| entry.0 == thread).map(|entry| entry.1.clone())
}

/// The number of a thread while a plan is played. The first one was never announced.
pub(super) fn number(thread: pthread_t) -> ThreadId {
    find(thread).and_then(|record| record.number).unwrap_or(0)
}

fn enter(thread: pthread_t, record: &Arc<ThreadRecord>) {
    let mut lives = shard(thread).lock();
    let mut state = record.state.lock();
    if !state.entered {
        state.entered = true;
        lives.retain(|entry| entry.0 != thread);
        lives.push((thread, record.clone()));
    }
}

fn leave(thread: pthread_t, record: &Arc<ThreadRecord>) {
    shard(thread).lock().retain(|entry| !Arc::ptr_eq(&entry.1, record));
}

/// Announces a thread.
fn announce<R>(
    routine: R,
    argument: *mut c_void,
    (detached, lent): (bool, bool),
    caller: Caller,
) -> Box<Start<R>> {
    let turn = if control::active() { control::threads::expect(caller.pc()) } else { None };
    let (child, exited) = thread::announce_child(caller.pc());
    let state = Lock::new(State { detached, ..State::default() });
    let number = turn.map(|turn| turn.number);
    let record = Arc::new(ThreadRecord { exited: Some(exited), state, rounds: AtomicU32::new(0), number });
    Box::new(Start { routine, argument, child, record, turn, lent })
}

/// After the real call that creates a thread.
///
/// # Safety
/// `start` is what the thread was given; if there is a thread, `thread` points to its name.
unsafe fn created<R>(
    result: c_int,
    thread: *const pthread_t,
    start: *mut Start<R>,
    turn: Option<NewThread>,
    record: &Arc<ThreadRecord>,
) {
    if let Some(newcomer) = turn {
        control::threads::created(newcomer, result == 0);
    }
    if result == 0 {
        // SAFETY: the caller's promise.
        enter(unsafe { *thread }, record);
    } else {
        // SAFETY: nobody else has it, since there is no thread.
        thread::cancel(unsafe { Box::from_raw(start) }.child);
    }
}

unsafe extern "C" fn create(
    thread: *mut pthread_t,
    attr: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
    caller: Caller,
) -> c_int {
    let start = announce(routine, argument, (is_detached(attr), is_lent(attr)), caller);
    let (record, turn) = (start.record.clone(), start.turn);
    let start = Box::into_raw(start);
    let roomy = with_room(attr);
    let attr = roomy.as_ref().map_or(attr, |roomy| roomy.as_ptr());
    // SAFETY: the caller's arguments, but for the routine and its argument, which fit each other.
    unsafe {
        let result = real::pthread_create(thread, attr, run, start.cast());
        created(result, thread, start, turn, &record);
        result
    }
}

unsafe extern "C" fn create11(
    thread: *mut pthread_t,
    routine: Routine11,
    argument: *mut c_void,
    caller: Caller,
) -> c_int {
    let start = announce(routine, argument, (false, false), caller);
    let (record, turn) = (start.record.clone(), start.turn);
    let start = Box::into_raw(start);
    // SAFETY: as above.
    unsafe {
        let result = real::thrd_create(thread, run11, start.cast());
        created(result, thread, start, turn, &record);
        result
    }
}

/// Where new threads begin. Nothing that needs to be dropped is left when the program's routine is called: it may never
/// return (`pthread_exit`).
extern "C" fn run(start: *mut c_void) -> *mut c_void {
    // SAFETY: `create` made it for this thread.
    unsafe { wait_for_turn((*start.cast::<Start<Routine>>()).turn) };
    // SAFETY: as above.
    let (routine, argument) = begin(*unsafe { Box::from_raw(start.cast::<Start<Routine>>()) });
    let result = routine(argument);
    returns(result as usize);
    result
}

extern "C" fn run11(start: *mut c_void) -> c_int {
    // SAFETY: `create11` made it for this thread.
    unsafe { wait_for_turn((*start.cast::<Start<Routine11>>()).turn) };
    // SAFETY: as above.
    let (routine, argument) = begin(*unsafe { Box::from_raw(start.cast::<Start<Routine11>>()) });
    let result = routine(argument);
    returns(result as usize);
    result
}

#[inline(always)]
fn wait_for_turn(turn: Option<NewThread>) {
    if let Some(newcomer) = turn {
        let here = 0usize; // in the caller's frame: what the program has on this stack is below
        control::threads::begin(newcomer, &raw const here as usize);
    }
}

fn begin<R>(start: Start<R>) -> (R, *mut c_void) {
    let Start { routine, argument, child, record, lent, .. } = start;
    // SAFETY: no preconditions.
    enter(unsafe { libc::pthread_self() }, &record);
    thread::begin(child);
    watch_end(record);
    if control::active() {
        // SAFETY: no preconditions.
        stacks::begin(stack(unsafe { libc::pthread_self() }), lent);
    } else {
        crash::give_stack();
    }
    (routine, argument)
}

/// While a plan is played: the current thread has this result.
fn returns(result: usize) {
    if control::active() {
        // SAFETY: `watch_end` made it from an `Arc`, which is dropped only at the end.
        let record =
            unsafe { libc::pthread_getspecific(KEY.load(Ordering::Relaxed)).cast::<ThreadRecord>().as_ref() };
        if let Some(record) = record {
            record.state.lock().result = Some(result);
        }
    }
}

fn watch_end(record: Arc<ThreadRecord>) {
    // SAFETY: the key was made at start; without one, this fails and the thread is never seen to end.
    unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), Arc::into_raw(record).cast()) };
}

/// The destructor of the key. libc calls destructors in up to four rounds: only the last one counts.
unsafe extern "C" fn at_end(value: *mut c_void) {
    const LAST_ROUND: u32 = 4;
    // SAFETY: `watch_end` made it from an `Arc`, and it is dropped only below.
    let rounds = unsafe { &(*value.cast::<ThreadRecord>()).rounds };
    if rounds.fetch_add(1, Ordering::Relaxed) + 1 < LAST_ROUND {
        // SAFETY: the same value again.
        unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), value) };
        return;
    }
    // SAFETY: this is the last use of the value.
    let record = unsafe { Arc::from_raw(value.cast::<ThreadRecord>()) };
    if control::active() {
        sync::release(&raw const DEAD_OWNERS as usize, Side::Loose, 0);
        control::robust::abandon(tid());
        control::threads::ends();
    }
    crash::take_stack();
    sync::release(&raw const DEAD_OWNERS as usize, Side::Loose, 0);
    if !control::active() {
        // SAFETY: no preconditions.
        forget_stack(unsafe { libc::pthread_self() });
    }
    thread::end();
    let detached = {
        let mut state = record.state.lock();
        state.ended = true;
        state.detached
    };
    if detached {
        // SAFETY: no preconditions.
        leave(unsafe { libc::pthread_self() }, &record);
    }
    if control::active() {
        drop(record);
        control::threads::leave(); // the last word: others go on
    }
}

/// A thread's stack may become anything: another thread's, or a library's data.
fn forget_stack(thread: pthread_t) {
    if let Some((addr, size)) = stack(thread) {
        memory::unmapped(addr, size);
    }
}

/// The memory of a thread's stack, its thread-local variables included. The thread is still there.
pub fn stack(thread: pthread_t) -> Option<(usize, usize)> {
    let mut attr = MaybeUninit::<pthread_attr_t>::uninit();
    let (mut addr, mut size) = (ptr::null_mut(), 0);
    // SAFETY: `attr` is used and destroyed only if it was filled in.
    unsafe {
        if libc::pthread_getattr_np(thread, attr.as_mut_ptr()) != 0 {
            return None;
        }
        let known = libc::pthread_attr_getstack(attr.as_ptr(), &mut addr, &mut size) == 0;
        libc::pthread_attr_destroy(attr.as_mut_ptr());
        known.then_some((addr as usize, size))
    }
}

fn is_detached(attr: *const pthread_attr_t) -> bool {
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    // SAFETY: the program's attributes.
    !attr.is_null()
        && unsafe { pthread_attr_getdetachstate(attr, &mut state) } == 0
        && state == libc::PTHREAD_CREATE_DETACHED
}

/// Do the attributes name a stack?
fn is_lent(attr: *const pthread_attr_t) -> bool {
    let (mut addr, mut size) = (ptr::null_mut::<c_void>(), 0);
    // SAFETY: the program's attributes.
    !attr.is_null()
        && unsafe { libc::pthread_attr_getstack(attr, &mut addr, &mut size) } == 0
        && !addr.wrapping_byte_add(size).is_null()
}

/// The same attributes with a larger stack, if they ask for a small one.
fn with_room(attr: *const pthread_attr_t) -> Option<MaybeUninit<pthread_attr_t>> {
    if attr.is_null() {
        return None;
    }
    let (mut addr, mut size) = (ptr::null_mut::<c_void>(), 0);
    // SAFETY: the program's attributes. The copy shares what they point to and is never destroyed.
    unsafe {
        let own = libc::pthread_attr_getstack(attr, &mut addr, &mut size) == 0
            && addr.wrapping_byte_add(size).is_null();
        if !own || libc::pthread_attr_getstacksize(attr, &mut size) != 0 || size >= ROOM {
            return None;
        }
        let mut copy = MaybeUninit::uninit();
        ptr::copy_nonoverlapping(attr, copy.as_mut_ptr(), 1);
        (libc::pthread_attr_setstacksize(copy.as_mut_ptr(), size + ROOM) == 0).then_some(copy)
    }
}

/// Does the real call; if it succeeds, the thread's views are taken over.
fn joining(thread: pthread_t, caller: Caller, how: Joining, real: impl FnOnce() -> c_int) -> c_int {
    let record = find(thread);
    if control::active() && record.is_none() && thread != FIRST.load(Ordering::Relaxed) {
        // What the real call would wait for never comes.
        objects::misused(Misuse::JoinedAgain, thread as usize, EventKind::Join, caller);
        return libc::ESRCH;
    }
    let result = match control::active().then_some(record.as_ref()).flatten() {
        Some(record) => joining_by_turns(thread, record, caller, how, real),
        None => real(),
    };
    if result == 0
        && let Some(record) = record.or_else(|| find(thread))
    {
        if let Some(exited) = &record.exited {
            thread::join(exited, caller.pc());
        }
        leave(thread, &record);
    }
    result
}

/// How a thread is joined.
struct Joining {
    patience: JoinTimeout,
    /// Where the result goes, and how many bytes there are.
    result: (*mut c_void, usize),
}

impl Joining {
    fn new(patience: JoinTimeout, result: *mut *mut c_void) -> Joining {
        Joining { patience, result: (result.cast(), size_of::<*mut c_void>()) }
    }
}

/// While a plan is played: nobody waits but for the turn. A thread that has ended needn't end really: its result is
/// known, and its stack can't be given to another thread at the wrong time.
fn joining_by_turns(
    thread: pthread_t,
    record: &ThreadRecord,
    caller: Caller,
    Joining { patience, result: (to, size) }: Joining,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(number) = record.number.filter(|&number| number != control::me()) else { return real() };
    if !control::threads::join(number, patience, caller.pc()) {
        return if patience == JoinTimeout::None { libc::EBUSY } else { libc::ETIMEDOUT };
    }
    stacks::joined(number);
    let known = record.state.lock().result;
    if let Some(value) = known.filter(|_| control::threads::may_stay()) {
        if !to.is_null() {
            // SAFETY: the caller's argument, of which so many bytes are to be written; the lowest ones come first.
            unsafe { ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), to.cast(), size) };
        }
        return 0;
    }
    forget_stack(thread);
    stacks::gone(number);
    control::threads::release(number);
    if size == size_of::<*mut c_void>() {
        // SAFETY: the caller's arguments. Whatever patience there is, it suffices: the thread ends at once.
        return unsafe { real::pthread_join(thread, to.cast()) };
    }
    real()
}

/// Does the real call; if it succeeds, nobody will join the thread.
fn detaching(thread: pthread_t, real: impl FnOnce() -> c_int) -> c_int {
    let record = find(thread);
    let result = real();
    if result == 0
        && let Some(record) = record
    {
        let ended = {
            let mut state = record.state.lock();
            state.detached = true;
            state.ended
        };
        if ended {
            leave(thread, &record);
        }
    }
    result
}

unsafe extern "C" fn join(thread: pthread_t, result: *mut *mut c_void, caller: Caller) -> c_int {
    // SAFETY: the caller's arguments.
    joining(thread, caller, Joining::new(JoinTimeout::All, result), || unsafe {
        real::pthread_join(thread, result)
    })
}

unsafe extern "C" fn tryjoin(thread: pthread_t, result: *mut *mut c_void, caller: Caller) -> c_int {
    // SAFETY: the caller's arguments.
    let real = || unsafe { real::pthread_tryjoin_np(thread, result) };
    joining(thread, caller, Joining::new(JoinTimeout::None, result), real)
}

unsafe extern "C" fn timedjoin(
    thread: pthread_t,
    result: *mut *mut c_void,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the caller's arguments.
    let real = || unsafe { real::pthread_timedjoin_np(thread, result, until) };
    joining(thread, caller, Joining::new(JoinTimeout::Some, result), real)
}

unsafe extern "C" fn clockjoin(
    thread: pthread_t,
    result: *mut *mut c_void,
    clock: clockid_t,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the caller's arguments.
    let real = || unsafe { real::pthread_clockjoin_np(thread, result, clock, until) };
    joining(thread, caller, Joining::new(JoinTimeout::Some, result), real)
}

unsafe extern "C" fn join11(thread: pthread_t, result: *mut c_int, caller: Caller) -> c_int {
    let how = Joining { patience: JoinTimeout::All, result: (result.cast(), size_of::<c_int>()) };
    // SAFETY: the caller's arguments.
    joining(thread, caller, how, || unsafe { real::thrd_join(thread, result) })
}

/// In front of `pthread_detach`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_pthread_detach(thread: pthread_t) -> c_int {
    // SAFETY: the caller's arguments.
    detaching(thread, || unsafe { real::pthread_detach(thread) })
}

/// In front of `thrd_detach`.
/// # Safety
/// As the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __interpose_thrd_detach(thread: pthread_t) -> c_int {
    // SAFETY: the caller's arguments.
    detaching(thread, || unsafe { real::thrd_detach(thread) })
}

/// While a plan is played, the first thread's end must be noticed, too, if it ends before the process does.
extern "C" fn before_exit(result: usize) -> *mut c_void {
    if control::active() && control::me() == 0 {
        let state = Lock::new(State { detached: true, ..State::default() });
        watch_end(Arc::new(ThreadRecord { exited: None, state, rounds: AtomicU32::new(0), number: Some(0) }));
    }
    returns(result);
    real::addresses::pthread_exit.address()
}

/// In front of `pthread_exit`, which unwinds the stack: it must not find us there.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __interpose_pthread_exit() {
    core::arch::naked_asm!("push rdi", "call {before}", "pop rdi", "jmp rax", before = sym before_exit)
}

shims! {
    __interpose_pthread_create => create, "r8";
    __interpose_pthread_join => join, "rdx";
    __interpose_pthread_tryjoin_np => tryjoin, "rdx";
    __interpose_pthread_timedjoin_np => timedjoin, "rcx";
    __interpose_pthread_clockjoin_np => clockjoin, "r8";
    __interpose_thrd_create => create11, "rcx";
    __interpose_thrd_join => join11, "rdx";
}

//! The fork server: the program waits just before `main`, and for each plan a copy of it goes on.
//!
//! Whatever comes before `main` (constructors, the start of the runtime) is done once. A copy is made by `fork`, plays the
//! plan, and ends; the server waits for it, says how it ended, and waits for the next plan.

use super::bodies::Body;
use super::warm::{self, Warm};
use super::wire::{self, Shared};
use super::{ACTIVE, memo, scheduler, settings, stacks, streams};
use crate::{interpose, sys, thread};
use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use seqcst_explore::wire::{VARIABLE, turn};

/// `main` of the program.
pub type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// The program's `main`, behind ours.
static MAIN: AtomicUsize = AtomicUsize::new(0);
/// Findings of this process are noted, or lost, but not reported.
static QUIET: AtomicBool = AtomicBool::new(false);

/// The `main` to start with: ours, if there is an exploration.
///
/// # Safety
/// `environment` is what `main` gets as its third argument.
pub unsafe fn instead_of(main: Main, environment: *mut *mut c_char) -> Main {
    // SAFETY: the caller's promise.
    if unsafe { entry(environment) }.is_none() {
        return main;
    }
    MAIN.store(main as usize, Ordering::Relaxed);
    serve
}

/// The entry of our variable in an environment, and its value.
///
/// # Safety
/// An array of texts that ends with a null pointer.
unsafe fn entry(environment: *mut *mut c_char) -> Option<(*mut *mut c_char, i32)> {
    let mut at = environment;
    // SAFETY: the caller's promise.
    unsafe {
        while !at.is_null() && !(*at).is_null() {
            let text = core::ffi::CStr::from_ptr(*at).to_bytes();
            if let Some(value) =
                text.strip_prefix(VARIABLE.as_bytes()).and_then(|text| text.strip_prefix(b"="))
            {
                let file = core::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                return Some((at, file.unwrap_or(-1)));
            }
            at = at.add(1);
        }
    }
    None
}

/// In place of `main`: returns what the program's `main` returns, in every copy.
extern "C" fn serve(count: c_int, arguments: *mut *mut c_char, environment: *mut *mut c_char) -> c_int {
    // SAFETY: the program's `main`.
    let main: Main = unsafe { core::mem::transmute(MAIN.load(Ordering::Relaxed)) };
    // SAFETY: what `main` gets.
    let Some((at, file)) = (unsafe { entry(environment) }) else {
        return main(count, arguments, environment);
    };
    let Some(shared) = Shared::map(file) else {
        sys::fatal(&format!(
            "{VARIABLE} is not for people: it is set by `seqcst explore`, of the same version"
        ));
    };
    // The program doesn't see it, and neither do those that it starts.
    // SAFETY: moves the entries behind it, the null pointer included.
    unsafe {
        let mut at = at;
        while !(*at).is_null() {
            *at = *at.add(1);
            at = at.add(1);
        }
    }
    sys::close(file);
    prepare(shared);
    let base = 0usize;
    play(shared, warm::up(), &raw const base as usize);
    // SAFETY: what the copy has to pass on.
    main(count, arguments, environment)
}

/// Makes the process as its copies need it.
fn prepare(shared: Shared) {
    die_with_parent();
    if threads() > 1 {
        shared.says("it starts threads before main, which can't be copied");
        wire::hand_over(&shared.header().turn, turn::REFUSED);
        sys::exit(0);
    }
    thread::current();
    load_early();
    // SAFETY: no preconditions.
    stacks::learn_first(interpose::threads::stack(unsafe { libc::pthread_self() }));
    QUIET.store(true, Ordering::Relaxed);
    memo::start();
    interpose::crash::ignore();
    // One heap for all threads: one of them runs at a time.
    // SAFETY: no preconditions.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    streams::close_input();
}

/// What libc loads when it is first needed (to end a thread, or to show a stack) is there for all copies: loaded once, at
/// one place.
fn load_early() {
    // SAFETY: the name ends in a zero byte; the library's constructors don't touch the program. It is never closed.
    unsafe { libc::dlopen(c"libgcc_s.so.1".as_ptr(), libc::RTLD_NOW) };
    interpose::modules::refresh();
}

/// Threads of this process.
fn threads() -> usize {
    // SAFETY: the names end in a zero byte; an entry is used before the next one is read.
    unsafe {
        let folder = libc::opendir(c"/proc/self/task".as_ptr());
        if folder.is_null() {
            return 1;
        }
        let mut many = 0;
        while let Some(entry) = libc::readdir(folder).as_ref() {
            many += usize::from(entry.d_name[0] != b'.' as c_char);
        }
        libc::closedir(folder);
        many
    }
}

/// The process is killed when its parent ends.
pub fn die_with_parent() {
    let args = [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0];
    // SAFETY: no memory involved.
    let _ = unsafe { sys::call(libc::SYS_prctl as usize, args) };
}

/// One copy per plan. Returns in every copy; the server itself never returns.
fn play(shared: Shared, mut warm: Warm, base: usize) {
    let first = Body::first();
    let header = shared.header();
    let mut said = turn::READY;
    loop {
        wire::hand_over(&header.turn, said);
        wire::wait(&header.turn, said);
        if header.turn.load(Ordering::Acquire) != turn::GO {
            sys::exit(0);
        }
        settings::set(header);
        streams::set_output(settings::get().output());
        match interpose::fork::copy() {
            0 => return begin(shared, first, warm, base),
            -1 => {
                shared.says("fork failed: too many processes, or too little memory");
                wire::hand_over(&header.turn, turn::REFUSED);
                sys::exit(0);
            }
            child => {
                header.child.store(child, Ordering::Release);
                header.status.store(wait_for(child), Ordering::Relaxed);
                header.child.store(0, Ordering::Release);
                warm.learn();
            }
        }
        said = turn::DONE;
    }
}

/// Waits until the process ends: its status.
fn wait_for(process: i32) -> i32 {
    let mut status = 0i32;
    let args = [process as usize, &raw mut status as usize, 0, 0, 0, 0];
    // SAFETY: the kernel writes the status.
    while unsafe { sys::call(libc::SYS_wait4 as usize, args) } == Err(sys::EINTR) {}
    status
}

/// The copy: from here on, a plan says whose turn it is.
fn begin(shared: Shared, first: Body, warm: Warm, base: usize) {
    die_with_parent();
    let settings = settings::get();
    if settings.reports() {
        QUIET.store(false, Ordering::Relaxed);
        interpose::crash::watch();
    }
    let main = thread::current();
    main.races = settings.races();
    main.views.watch(settings.model());
    scheduler::start(shared, first, warm, base);
    ACTIVE.store(true, Ordering::Relaxed);
}

/// Are findings kept from people?
#[inline]
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// In a process that the program has forked: it runs as it likes, unobserved.
pub fn fork_child() {
    if ACTIVE.swap(false, Ordering::Relaxed) {
        QUIET.store(true, Ordering::Relaxed);
        die_with_parent();
    }
}

//! Tests with something wrong in each, in a file of their own so that their lines stay where they are.

use seqcst::cell::UnsafeCell;
use seqcst::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use seqcst::sync::{Arc, Mutex, mpsc};
use seqcst::{hint, thread};

pub fn store_buffering() {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let other = shared.clone();
    thread::spawn(move || {
        other.0.store(1, Release);
        other.1.load(Acquire)
    });
    shared.1.store(1, Release);
    shared.0.load(Acquire);
}

pub fn message_passing_without_release() {
    let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
    let other = shared.clone();
    thread::spawn(move || {
        other.0.store(7, Relaxed);
        other.1.store(true, Relaxed);
    });
    while !shared.1.load(Acquire) {
        hint::spin_loop();
    }
    assert_eq!(shared.0.load(Relaxed), 7);
}

struct Shared(UnsafeCell<i32>);
// SAFETY: that's what is wrong.
unsafe impl Sync for Shared {}

pub fn race() {
    let shared = Arc::new(Shared(UnsafeCell::new(0)));
    let other = shared.clone();
    thread::spawn(move || other.0.with_mut(|cell| unsafe { *cell = 1 }));
    shared.0.with(|cell| unsafe { *cell });
}

pub fn lost_update() {
    let count = Arc::new(AtomicUsize::new(0));
    let other = count.clone();
    let adding = thread::Builder::new().name("adder".to_owned());
    let adding = adding.spawn(move || other.store(other.load(SeqCst) + 1, SeqCst)).unwrap();
    count.store(count.load(SeqCst) + 1, SeqCst);
    adding.join().unwrap();
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}

pub fn deadlock() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let other = locks.clone();
    let other = thread::spawn(move || {
        let _second = other.1.lock().unwrap();
        let _first = other.0.lock().unwrap();
    });
    let first = locks.0.lock().unwrap();
    let second = locks.1.lock().unwrap();
    drop((first, second));
    other.join().unwrap();
}

pub fn waiting_for_nobody() {
    let (sender, receiver) = mpsc::channel::<()>();
    let ready = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || receiver.recv());
        while !ready.load(Acquire) {
            hint::spin_loop();
        }
    });
    drop(sender);
}

pub fn too_many_steps() {
    let count = AtomicUsize::new(0);
    while count.fetch_add(1, Relaxed) < 1000 {}
}

struct Cycle(Mutex<Option<Arc<Cycle>>>);

pub fn leak() {
    let cycle = Arc::new(Cycle(Mutex::new(None)));
    *cycle.0.lock().unwrap() = Some(cycle.clone());
}

/// Store buffering where the second access is a compare-and-swap that fails.
pub fn failing_swap() {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let other = shared.clone();
    let thread = thread::spawn(move || {
        other.0.store(1, Release);
        let _ = other.1.compare_exchange(5, 6, SeqCst, Acquire);
    });
    shared.1.store(1, Release);
    shared.0.load(Acquire);
    thread.join().unwrap();
}

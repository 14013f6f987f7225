//! All that the standard library allows shows in some execution, and nothing else does.

#![allow(unsafe_code)] // a cell that threads share

mod outcomes;

use outcomes::outcomes;
use seqcst::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use seqcst::sync::{Arc, Condvar, Mutex, Weak, mpsc};
use seqcst::{Builder, cell::UnsafeCell, thread};
use std::time::Duration;

/// The time can be up while another thread has the lock, changes what is waited for, and signals: then the wait is late,
/// but the condition holds.
#[test]
fn who_is_late_may_find_what_it_waited_for() {
    let seen = outcomes(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = shared.clone();
        let other = thread::spawn(move || {
            let mut ready = other.0.lock().unwrap();
            *ready = true;
            other.1.notify_one();
        });
        let ready = shared.0.lock().unwrap();
        if *ready {
            return None;
        }
        let (ready, late) = shared.1.wait_timeout(ready, Duration::from_secs(1)).unwrap();
        let found = (*ready, late.timed_out());
        drop(ready);
        other.join().unwrap();
        Some(found)
    });
    assert_eq!(seen, [None, Some((false, true)), Some((true, false)), Some((true, true))]);
}

/// Who is late leaves the signal to others.
#[test]
fn who_is_late_takes_no_signal() {
    let seen = outcomes(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let other = shared.clone();
        // Nobody else signals: it would wait for ever if both signals went to who is late.
        let other = thread::spawn(move || {
            let mut waiting = other.0.lock().unwrap();
            *waiting += 1;
            drop(other.1.wait_while(waiting, |waiting| *waiting < 10).unwrap());
        });
        let mut waiting = shared.0.lock().unwrap();
        *waiting += 1;
        let (mut waiting, late) = shared.1.wait_timeout(waiting, Duration::from_secs(1)).unwrap();
        *waiting = 10;
        shared.1.notify_one();
        drop(waiting);
        other.join().unwrap();
        late.timed_out()
    });
    assert_eq!(seen, [true]);
}

/// The last of several references gives the value away: that may be any of them.
#[test]
fn the_last_reference_gives_the_value() {
    let seen = outcomes(|| {
        let one = Arc::new(5);
        let two = one.clone();
        let other = thread::spawn(move || Arc::into_inner(two).is_some());
        let mine = Arc::into_inner(one).is_some();
        (mine, other.join().unwrap())
    });
    assert_eq!(seen, [(false, true), (true, false)]);
}

/// A weak reference of another thread comes in the way of `get_mut` as long as it is there.
#[test]
fn weak_references_go_at_any_moment() {
    let seen = outcomes(|| {
        let mut one = Arc::new(5);
        let weak = Arc::downgrade(&one);
        let other = thread::spawn(move || drop(weak));
        let alone = Arc::get_mut(&mut one).is_some();
        other.join().unwrap();
        alone
    });
    assert_eq!(seen, [false, true]);
}

#[test]
fn counts_change_at_any_moment() {
    let strong = outcomes(|| {
        let one = Arc::new(5);
        let weak = Arc::downgrade(&one);
        let other = thread::spawn(move || drop(one));
        let count = weak.strong_count();
        other.join().unwrap();
        count
    });
    assert_eq!(strong, [0, 1]);
    let weak = outcomes(|| {
        let one = Arc::new(5);
        let weak = Arc::downgrade(&one);
        let other = thread::spawn(move || drop(weak));
        let count = Arc::weak_count(&one);
        other.join().unwrap();
        count
    });
    assert_eq!(weak, [0, 1]);
    let seen_through_weak = outcomes(|| {
        let one = Arc::new(5);
        let (weak, second) = (Arc::downgrade(&one), Arc::downgrade(&one));
        let other = thread::spawn(move || drop(second));
        let count = weak.weak_count();
        other.join().unwrap();
        count
    });
    assert_eq!(seen_through_weak, [1, 2]);
    let cloned = outcomes(|| {
        let one = Arc::new(5);
        thread::scope(|scope| {
            scope.spawn(|| std::mem::forget(one.clone()));
            Arc::strong_count(&one)
        })
    });
    assert_eq!(cloned, [1, 2]);
    let pointed_at = outcomes(|| {
        let one = Arc::new(5);
        thread::scope(|scope| {
            scope.spawn(|| std::mem::forget(Arc::downgrade(&one)));
            Arc::weak_count(&one)
        })
    });
    assert_eq!(pointed_at, [0, 1]);
}

/// If only weak references are in the way, the value moves: it is neither cloned nor dropped.
#[test]
fn values_move_away_from_weak_references() {
    struct Counted<'a>(&'a AtomicUsize, &'a AtomicUsize);
    impl Clone for Counted<'_> {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Relaxed);
            Counted(self.0, self.1)
        }
    }
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.1.fetch_add(1, Relaxed);
        }
    }
    let run = |others: bool| {
        let (clones, drops) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut one = Arc::new(Counted(&clones, &drops));
        let weak: Weak<_> = Arc::downgrade(&one);
        let two = others.then(|| one.clone());
        let _ = Arc::make_mut(&mut one);
        let found =
            (clones.load(Relaxed), drops.load(Relaxed), weak.upgrade().is_some(), Arc::weak_count(&one));
        drop(two);
        found
    };
    for (others, expected) in [(false, (0, 0, false, 0)), (true, (1, 0, true, 0))] {
        assert_eq!(run(others), expected, "outside");
        assert_eq!(outcomes(|| run(others)), [expected]);
    }
}

/// Without room, a message is sent only if it is received.
#[test]
fn who_meets_nobody_keeps_the_message() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let other = thread::spawn(move || sender.send(7).map_err(|error| error.0));
        drop(receiver);
        other.join().unwrap()
    });
    assert_eq!(seen, [Err(7)]);
}

/// Shared by threads.
struct Cell(UnsafeCell<i32>);

// SAFETY: nobody looks at the value.
unsafe impl Sync for Cell {}

/// And then what the receiver did before is known to the sender.
#[test]
fn who_meets_knows_what_the_other_knew() {
    outcomes(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let data = Arc::new(Cell(UnsafeCell::new(0)));
        let other = data.clone();
        let thread = thread::spawn(move || {
            other.0.with_mut(|_| ());
            receiver.recv().unwrap();
        });
        sender.send(()).unwrap();
        data.0.with(|_| ());
        thread.join().unwrap();
    });
}

/// Who panics in a scope without being joined makes the scope panic.
#[test]
fn scopes_hear_of_panics() {
    let exploration = Builder::default().threads_may_panic(true).explore(|| {
        let scope = |join: bool| {
            std::panic::catch_unwind(|| {
                thread::scope(|scope| {
                    let thread = scope.spawn(|| panic!("it does"));
                    assert!(!join || thread.join().is_err());
                });
            })
        };
        let payload = scope(false).expect_err("a panic");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"a scoped thread panicked"));
        assert!(scope(true).is_ok());
    });
    println!("{}", exploration.report().unwrap_or_default());
    assert_eq!(exploration.problem(), None);
    assert!(exploration.is_exhaustive());
}

/// Threads of a scope may start others while the scope waits for them.
#[test]
fn scoped_threads_start_others() {
    let seen = outcomes(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                scope.spawn(|| count.fetch_add(1, Relaxed));
                count.fetch_add(1, Relaxed)
            });
        });
        count.into_inner()
    });
    assert_eq!(seen, [2]);
}
